/** Individual dedicated machines, which the operator manages by hand. */
import type { Sql } from '../../kernel/sql.ts';
import type { MachineState, ServerStatus, SuspendedReason } from '../../spec/states.ts';

export interface MachineRow {
  readonly id: string;
  readonly name: string;
  readonly plan_id: string;
  readonly region_id: string;
  readonly state: MachineState;
  readonly state_since: Date;
  /** Since when the operator reports a sold machine as powered off. */
  readonly off_since: Date | null;
  /** The server it is sold as; null, like the columns below, while it is not sold. */
  readonly server_id: string | null;
  readonly server_status: ServerStatus | null;
  readonly suspended_reason: SuspendedReason | null;
  readonly email: string | null;
}

const COLUMNS = `m.id, m.name, m.plan_id, m.region_id, m.state, m.state_since, m.off_since, m.server_id,
  s.status as server_status, s.suspended_reason, c.email`;
const FROM = `machines m
  left join servers s on s.id = m.server_id left join customers c on c.id = s.customer_id`;

export async function listMachines(tx: Sql): Promise<MachineRow[]> {
  return await tx.rows<MachineRow>(`select ${COLUMNS} from ${FROM} order by m.region_id, m.plan_id, m.name`);
}

export async function findMachine(tx: Sql, name: string): Promise<MachineRow | undefined> {
  return await tx.row<MachineRow>(`select ${COLUMNS} from ${FROM} where m.name = $1`, [name]);
}

export async function lockMachine(tx: Sql, name: string): Promise<MachineRow | undefined> {
  return await tx.row<MachineRow>(`select ${COLUMNS} from ${FROM} where m.name = $1 for update of m`, [name]);
}

/** Changes a machine that is not sold: store/servers/deploy.ts and placements.ts sell and release it. */
export async function setMachineState(
  tx: Sql,
  change: { readonly id: string; readonly state: Exclude<MachineState, 'sold'>; readonly now: Date },
): Promise<void> {
  await tx.run('update machines set state = $state, state_since = $now where id = $id', change);
}

export async function setMachineOff(tx: Sql, id: string, since: Date | null): Promise<void> {
  await tx.run('update machines set off_since = $2 where id = $1', [id, since]);
}

/** Removes a machine that is not sold. */
export async function deleteMachine(tx: Sql, id: string): Promise<void> {
  await tx.run('delete from machines where id = $1 and server_id is null', [id]);
}
