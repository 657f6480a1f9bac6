/** The end of a server's install, and its first boot. */
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus } from '../../spec/states.ts';
import { LOW_BALANCE_WINDOW_SQL } from '../billing/cycles.ts';

/**
 * Marks a server as installed and erases its secrets. `onNewDisk`: the install created the next disk
 * generation. From the first run on, the calendar handles the server.
 */
export async function setServerInstalled(
  tx: Sql,
  change: { id: string; status?: ServerStatus; onNewDisk: boolean; now: Date },
): Promise<void> {
  await tx.run(
    `update servers
        set status = $4::text, first_run_at = coalesce(first_run_at, $2), updated_at = $2,
            generation = generation + case when $3 then 1 else 0 end,
            bill_at = coalesce(bill_at, paid_until - ${LOW_BALANCE_WINDOW_SQL}),
            ${afterFirstBoot(`$4::text = 'running'`)}
      where id = $1`,
    [change.id, change.now, change.onNewDisk, change.status ?? 'running'],
  );
}

/** Records that a server that was created stopped has booted. */
export async function markStarted(tx: Sql, id: string): Promise<void> {
  await tx.run(`update servers set ${afterFirstBoot('true')} where id = $1`, [id]);
}

/** Until it has booted, another host that replaces a lost one needs the secrets of its install. */
function afterFirstBoot(hasBooted: string): string {
  const secrets = ['root_password_sealed', 'user_data_sealed'];
  const kept = secrets.map((column) => `${column} = case when not (${hasBooted}) then ${column} end`);
  return `never_started = not (${hasBooted}), ${kept.join(', ')}`;
}
