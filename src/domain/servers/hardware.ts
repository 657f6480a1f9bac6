/** The hardware under a server, and whether a driver or the operator manages it (decision 15). */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Capabilities, ComputeDriver } from '../../ports/compute.ts';
import { MANUAL_HARDWARE_MESSAGES } from '../../spec/error-messages.ts';
import { findTransition, MACHINE_TRANSITIONS, type MachineState } from '../../spec/states.ts';
import { findInstallDetails, type InstallDetails } from '../../store/servers/reinstalls.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import type { Service } from '../context.ts';

/** The caller holds the server's lock. */
export async function requireInstallFacts(tx: Sql, server: ServerRow): Promise<InstallDetails> {
  const facts = await findInstallDetails(tx, server.id);
  if (!facts) throw new Error('a locked server has no row');
  return facts;
}

/** Returns what the driver supports for this server's plan. The caller holds the server's lock. */
export async function serverCapabilities(
  service: Service,
  tx: Sql,
  server: ServerRow,
): Promise<Capabilities> {
  const { category } = await requireInstallFacts(tx, server);
  return driverCapabilities(service.compute, category);
}

/** Capabilities of hardware that no driver reaches. */
const NO_CAPABILITIES: Capabilities = {
  volumes: 0,
  snapshots: false,
  filter: false,
  console: false,
  customImages: false,
};

export function driverCapabilities(
  compute: Pick<ComputeDriver, 'capabilities'>,
  category: 'vps' | 'dedicated',
): Capabilities {
  return compute.capabilities[category] ?? NO_CAPABILITIES;
}

/** Whether plans of this category are sold by hand: the service drives only other hardware. */
export function isSoldByHand({ compute }: Pick<Service, 'compute'>, category: 'vps' | 'dedicated'): boolean {
  return compute.capabilities[category] === null;
}

/**
 * Whether the driver knows this server. It does not know machines that were handed over by hand: every verb,
 * worker, and the reconciler must skip those.
 */
export function hasDriver(service: Pick<Service, 'compute'>, server: Pick<ServerRow, 'machine_id'>): boolean {
  return server.machine_id === null || !isSoldByHand(service, 'dedicated');
}

/** Refuses with `unavailable` an action that needs a driver. */
export function requireDriver(
  service: Pick<Service, 'compute'>,
  server: Pick<ServerRow, 'machine_id'>,
): void {
  if (!hasDriver(service, server)) fail('unavailable', { field: '' }, MANUAL_HARDWARE_MESSAGES.server);
}

/**
 * Returns the state of a machine whose server ended: a driver has already wiped it, an operator has yet to.
 */
export function releasedMachineState(service: Pick<Service, 'compute'>): MachineState {
  const trigger = isSoldByHand(service, 'dedicated') ? 'release' : 'release_wiped';
  return findTransition(MACHINE_TRANSITIONS, 'sold', trigger).to;
}
