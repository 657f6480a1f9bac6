/** Finds a machine on a reachable host, and names the reason if there is none. */
import type { Sql } from '../../../kernel/sql.ts';
import { ComputeError } from '../../../ports/compute.ts';
import type { InstalledSystem, MachineTimes } from './machine.ts';

export interface MachineRow extends MachineTimes {
  readonly id: string;
  readonly host: string;
  readonly disk_gb: number;
  readonly generation: number;
  readonly old_generations: number[];
  readonly installed: InstalledSystem;
  readonly booted_at: Date;
  readonly rescue_password_sha256: string | null;
}

const COLUMNS = `m.id, m.host, m.disk_gb, m.generation, m.old_generations, m.installed, m.booted_at,
  m.install_ends_at, m.off_at, m.rescue_at, m.rescue_password_sha256`;

/**
 * Returns the machine or undefined. Throws if its host is down, since nothing can act on the machine then.
 */
export async function findReachableMachine(sql: Sql, id: string): Promise<MachineRow | undefined> {
  return await selectMachine(sql, id, '');
}

/** Does the same and locks the machine until the transaction ends. */
export async function lockReachableMachine(tx: Sql, id: string): Promise<MachineRow | undefined> {
  return await selectMachine(tx, id, 'for no key update of m');
}

async function selectMachine(sql: Sql, id: string, lock: string): Promise<MachineRow | undefined> {
  const row = await sql.row<MachineRow & { down: boolean }>(
    `select ${COLUMNS}, h.down
     from sim.machines m join sim.hosts h on h.name = m.host where m.id = $1 ${lock}`,
    [id],
  );
  if (row?.down) throw hostUnreachable(row.host);
  return row;
}

/** The same id on two hosts would be two machines with the same addresses. */
export function machineOnOtherHost(): ComputeError {
  return new ComputeError('refused', 'the machine exists on another host');
}

export function machineNotFound(): ComputeError {
  return new ComputeError('refused', 'machine not found');
}

/** While a host is down, nothing is known about its machines, not even their absence. */
export function hostUnreachable(host: string): ComputeError {
  return new ComputeError('transient', `host ${host} is not responding`);
}
