import type { Sql } from '../kernel/sql.ts';
import type { SwitchName } from '../spec/switches.ts';

export interface SwitchRow {
  readonly name: SwitchName;
  readonly on_: boolean;
  readonly reason: string | null;
  readonly changed_at: Date;
}

/** Returns how the operator set a switch, or undefined if it was never set. */
export async function findSwitch(tx: Sql, name: SwitchName): Promise<SwitchRow | undefined> {
  return await tx.row<SwitchRow>('select name, on_, reason, changed_at from switches where name = $1', [
    name,
  ]);
}

/** Lists the switches that were ever set. */
export async function listSwitches(tx: Sql): Promise<SwitchRow[]> {
  return await tx.rows<SwitchRow>('select name, on_, reason, changed_at from switches');
}

export async function saveSwitch(tx: Sql, row: SwitchRow): Promise<void> {
  await tx.run(
    `insert into switches (name, on_, reason, changed_at) values ($1, $2, $3, $4)
     on conflict (name) do update
       set on_ = excluded.on_, reason = excluded.reason, changed_at = excluded.changed_at`,
    [row.name, row.on_, row.reason, row.changed_at],
  );
}
