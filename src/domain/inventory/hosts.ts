/** Hosts of virtual servers, and dedicated machines: a finite stock, one server per machine. */
import { newId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findPlan, type PlanRow } from '../../store/catalogue/catalogue.ts';
import { lockBackend } from '../../store/inventory/backends.ts';
import {
  insertHost,
  insertMachines,
  lockHost,
  setHostDraining,
  setHostSize,
} from '../../store/inventory/hosts.ts';
import { cancelQueuedMoves } from '../../store/servers/moves.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { type HostPlacement, requirePlacement, sortTags } from './host-placement.ts';
import { requireRegion, requireUnusedNames } from './names.ts';

/** A host or dedicated machine as a compute driver sees it. */
export interface HostShape {
  readonly name: string;
  readonly cpu: number;
  readonly ramMb: number;
  readonly diskGb: number;
}

/**
 * Creates simulated hosts before the inventory uses them. Real hosts already exist, and a host unknown to
 * the driver is rejected. Idempotent; hosts beyond the inventory do no harm.
 */
export type RegisterHosts = (hosts: readonly HostShape[], category: 'vps' | 'dedicated') => Promise<void>;

export interface NewHost extends HostShape, Partial<HostPlacement> {
  readonly regionId: string;
  /** Omitted: the machine that the service runs on. */
  readonly backend?: string;
}

/** Adds a host to a region. Servers may be placed on it at once. */
export async function addHost(
  service: Pick<Service, 'db' | 'clock'>,
  host: NewHost,
  register: RegisterHosts,
): Promise<void> {
  await requireNewHosts(service.db, [host]);
  await register([host], 'vps');
  await service.db.transaction((tx) => createHosts(tx, [host], service.clock.now()));
}

/** Creates registered hosts in the caller's transaction. */
export async function createHosts(tx: Sql, hosts: readonly NewHost[], now: Date): Promise<void> {
  await requireNewHosts(tx, hosts);
  for (const host of hosts) {
    await insertHost(tx, {
      id: newId(now),
      name: host.name,
      region_id: host.regionId,
      cpu: host.cpu,
      ram_mb: host.ramMb,
      disk_gb: host.diskGb,
      tags: sortTags(host.tags ?? []),
      reserve_ram_mb: host.reserveRamMb ?? 0,
      reserve_disk_gb: host.reserveDiskGb ?? 0,
      backend: host.backend ?? null,
      created_at: now,
    });
    await recordAudit(tx, { actor: systemActor(now), action: 'host.add', resource: host.name }, now);
  }
}

export async function requireNewHosts(tx: Sql, hosts: readonly NewHost[]): Promise<void> {
  for (const regionId of new Set(hosts.map((host) => host.regionId))) await requireRegion(tx, regionId);
  for (const host of hosts) requirePlacement(host, host);
  await requireUnusedNames(
    tx,
    hosts.map((host) => host.name),
  );
}

/**
 * Starts or stops draining: a draining host keeps its servers and takes no new ones. False if nothing
 * changed. The end of draining also cancels queued moves.
 */
export async function drainHost(
  service: Pick<Service, 'db' | 'clock'>,
  name: string,
  draining: boolean,
): Promise<boolean> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    if (!draining) await requireCallable(tx, name);
    const wasDraining = await setHostDraining(tx, name, draining);
    if (wasDraining === undefined)
      throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
    if (!draining) await cancelQueuedMoves(tx, name);
    if (wasDraining === draining) return false;
    const action = draining ? 'host.drain' : 'host.undrain';
    await recordAudit(tx, { actor: systemActor(now), action, resource: name }, now);
    return true;
  });
}

async function requireCallable(tx: Sql, name: string): Promise<void> {
  const host = await lockHost(tx, name);
  const backend = host?.backend == null ? undefined : await lockBackend(tx, host.backend);
  if (host?.lost_at != null) throw new OperatorError(`host ${name} is lost: it accepts no servers`);
  if (backend !== undefined && backend.state !== 'active')
    throw new OperatorError(`host ${name} is ${backend.state}: it accepts no servers`);
}

/** The new size. Omitted values do not change. */
export type HostSize = Partial<Omit<HostShape, 'name'>>;

/** Resizes a host after a hardware change or a wrong entry. Never below the resources of its servers. */
export async function resizeHost(
  service: Pick<Service, 'db' | 'clock'>,
  name: string,
  size: HostSize,
): Promise<HostShape> {
  const now = service.clock.now();
  return await service.db.transaction(async (tx) => {
    const current = await lockHost(tx, name);
    if (current === undefined) throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
    const { cpu = current.cpu, ramMb = current.ram_mb, diskGb = current.disk_gb } = size;
    requireCapacity(name, 'MiB of memory', current.used_ram_mb, ramMb);
    requireCapacity(name, 'GiB of disk', current.used_disk_gb, diskGb);
    const { reserve_ram_mb: reserveRamMb, reserve_disk_gb: reserveDiskGb } = current;
    requirePlacement({ name, ramMb, diskGb }, { reserveRamMb, reserveDiskGb });
    await setHostSize(tx, name, { cpu, ram_mb: ramMb, disk_gb: diskGb });
    await recordAudit(tx, { actor: systemActor(now), action: 'host.resize', resource: name }, now);
    return { name, cpu, ramMb, diskGb };
  });
}

function requireCapacity(name: string, resource: string, used: number, wanted: number): void {
  if (wanted < used)
    throw new OperatorError(`the servers on ${name} use ${used} ${resource}: enter at least this much`);
}

export interface NewMachines {
  readonly regionId: string;
  /** The plan of category `dedicated` that these machines are sold as. */
  readonly planId: string;
  readonly names: readonly string[];
}

/** Adds machines to the stock of a plan in a region. */
export async function addMachines(
  service: Pick<Service, 'db' | 'clock'>,
  machines: NewMachines,
  register: RegisterHosts,
): Promise<void> {
  const plan = await requireDedicatedPlan(service.db, machines);
  await requireUnusedNames(service.db, machines.names);
  await register(machineShapes(plan, machines.names), 'dedicated');
  await service.db.transaction((tx) => createMachines(tx, machines, service.clock.now()));
}

/** Creates registered machines in the caller's transaction. */
export async function createMachines(tx: Sql, machines: NewMachines, now: Date): Promise<void> {
  await requireDedicatedPlan(tx, machines);
  await requireUnusedNames(tx, machines.names);
  await insertMachines(tx, {
    ids: machines.names.map(() => newId(now)),
    names: machines.names,
    plan_id: machines.planId,
    region_id: machines.regionId,
    created_at: now,
  });
  const resource = machines.names.join(' ');
  await recordAudit(tx, { actor: systemActor(now), action: 'machine.add', resource }, now);
}

/** Returns machines as hosts of the size that their plan promises. */
export function machineShapes(
  plan: Pick<PlanRow, 'cpu' | 'ram_mb' | 'disk_gb'>,
  names: readonly string[],
): HostShape[] {
  return names.map((name) => ({ name, cpu: plan.cpu, ramMb: plan.ram_mb, diskGb: plan.disk_gb }));
}

async function requireDedicatedPlan(tx: Sql, machines: NewMachines): Promise<PlanRow> {
  await requireRegion(tx, machines.regionId);
  const plan = await findPlan(tx, machines.planId);
  if (!plan) throw new OperatorError(`plan ${machines.planId} not found: see \`skerryd catalogue show\``);
  if (plan.category !== 'dedicated') {
    throw new OperatorError(`plan ${plan.id} is not dedicated: its servers are placed on hosts`);
  }
  return plan;
}
