import type { Sql } from '../kernel/sql.ts';
import type { SwitchName } from '../spec/settings.ts';

/** How the operator set a switch, or undefined when it was never touched. */
export async function findSwitch(tx: Sql, name: SwitchName): Promise<boolean | undefined> {
  const row = await tx.row<{ on_: boolean }>('select on_ from switches where name = $1', [name]);
  return row?.on_;
}

export async function saveSwitch(
  tx: Sql,
  row: { readonly name: SwitchName; readonly on: boolean; readonly changedAt: Date },
): Promise<void> {
  await tx.run(
    `insert into switches (name, on_, changed_at) values ($1, $2, $3)
     on conflict (name) do update set on_ = excluded.on_, changed_at = excluded.changed_at`,
    [row.name, row.on, row.changedAt],
  );
}
