/** Finding a machine on a host that answers, and saying why there is none. */
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

/** The machine, or undefined; throws when its host is down, because then nobody can act on it. */
export async function findReachableMachine(sql: Sql, id: string): Promise<MachineRow | undefined> {
  return await selectMachine(sql, id, '');
}

/** The same, and nobody else acts on the machine until the transaction ends. */
export async function lockReachableMachine(tx: Sql, id: string): Promise<MachineRow | undefined> {
  return await selectMachine(tx, id, 'for no key update of m');
}

async function selectMachine(sql: Sql, id: string, lock: string): Promise<MachineRow | undefined> {
  const row = await sql.row<MachineRow & { down: boolean }>(
    `select ${COLUMNS}, h.down from sim.machines m join sim.hosts h on h.name = m.host where m.id = $1 ${lock}`,
    [id],
  );
  if (row?.down) throw hostUnreachable(row.host);
  return row;
}

/** One id on two hosts would be two machines with the same addresses. */
export function machineOnOtherHost(): ComputeError {
  return new ComputeError('refused', 'the machine exists on another host');
}

export function machineNotFound(): ComputeError {
  return new ComputeError('refused', 'no such machine');
}

/** Neither absent nor any other state can be claimed of a machine whose host does not answer. */
export function hostUnreachable(host: string): ComputeError {
  return new ComputeError('transient', `host ${host} does not answer`);
}
