/** What a server stands on, and whether a driver reaches it: what it does not is the operator's hands' (decision 15). */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Capabilities, ComputeDriver } from '../../ports/compute.ts';
import { MANUAL_HARDWARE_MESSAGES } from '../../spec/error-messages.ts';
import { findTransition, MACHINE_TRANSITIONS, type MachineState } from '../../spec/states.ts';
import { findInstallDetails, type InstallDetails } from '../../store/reinstalls.ts';
import type { ServerRow } from '../../store/servers.ts';
import type { Service } from '../context.ts';

/** The caller holds the server's lock. */
export async function requireInstallFacts(tx: Sql, server: ServerRow): Promise<InstallDetails> {
  const facts = await findInstallDetails(tx, server.id);
  if (!facts) throw new Error('a locked server is not there');
  return facts;
}

/** What the driver can do for this kind of plan. The caller holds the server's lock. */
export async function serverCapabilities(
  service: Service,
  tx: Sql,
  server: ServerRow,
): Promise<Capabilities> {
  const { category } = await requireInstallFacts(tx, server);
  return driverCapabilities(service.compute, category);
}

/** What hardware that no driver reaches can do: the operator's hands do the rest. */
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

/** Whether plans of this category are sold by hand: the service drives other hardware, and none of that kind. */
export function isSoldByHand({ compute }: Pick<Service, 'compute'>, category: 'vps' | 'dedicated'): boolean {
  return compute.capabilities[category] === null;
}

/**
 * Whether the driver is asked about this server at all. It knows nothing of one that stands on a machine which was handed
 * over by hand: every verb, worker and reconciler leaves that out.
 */
export function hasDriver(service: Pick<Service, 'compute'>, server: Pick<ServerRow, 'machine_id'>): boolean {
  return server.machine_id === null || !isSoldByHand(service, 'dedicated');
}

/** Refuses with `unavailable` what only a driver can do. */
export function requireDriver(
  service: Pick<Service, 'compute'>,
  server: Pick<ServerRow, 'machine_id'>,
): void {
  if (!hasDriver(service, server)) fail('unavailable', { field: '' }, MANUAL_HARDWARE_MESSAGES.server);
}

/** What becomes of a machine whose server ends: a driver has wiped it by then, hands have yet to. */
export function releasedMachineState(service: Pick<Service, 'compute'>): MachineState {
  const trigger = isSoldByHand(service, 'dedicated') ? 'release' : 'release_wiped';
  return findTransition(MACHINE_TRANSITIONS, 'sold', trigger).to;
}
