/** Work that is due again and again, and done by one process at a time. Whoever takes it holds a lease while at it. */
import type { Sql } from '../kernel/sql.ts';

/** True for one process: it has `leaseS` seconds of the database's time, and more whenever it asks for them. */
export async function leaseRecurringJob(tx: Sql, name: string, leaseS: number): Promise<boolean> {
  const taken = await tx.run(
    `insert into beats as b (name, due_at) values ($1, clock_timestamp() + make_interval(secs => $2))
     on conflict (name) do update set due_at = excluded.due_at where b.due_at <= clock_timestamp()`,
    [name, leaseS],
  );
  return taken === 1;
}

/** By its holder: the next is due in so many seconds. */
export async function scheduleNextRun(tx: Sql, name: string, inS: number): Promise<void> {
  await tx.run(`update beats set due_at = clock_timestamp() + make_interval(secs => $2) where name = $1`, [
    name,
    inS,
  ]);
}

/** The same on the business clock, without a lease: true for one process, and then not before `nextAt`. */
export async function claimScheduledRun(
  tx: Sql,
  schedule: { readonly name: string; readonly now: Date; readonly nextAt: Date },
): Promise<boolean> {
  const taken = await tx.run(
    `insert into beats as b (name, due_at) values ($1, $3)
     on conflict (name) do update set due_at = excluded.due_at where b.due_at <= $2`,
    [schedule.name, schedule.now, schedule.nextAt],
  );
  return taken === 1;
}
