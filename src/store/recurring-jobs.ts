/** Recurring jobs: each runs in one process at a time, which holds a lease while it works. */
import type { Sql } from '../kernel/sql.ts';

/**
 * Leases the job for `leaseS` seconds of the database's time. Returns true in one process only; call it again
 * to extend the lease.
 */
export async function leaseRecurringJob(tx: Sql, name: string, leaseS: number): Promise<boolean> {
  const taken = await tx.run(
    `insert into beats as b (name, due_at) values ($1, clock_timestamp() + make_interval(secs => $2))
     on conflict (name) do update set due_at = excluded.due_at where b.due_at <= clock_timestamp()`,
    [name, leaseS],
  );
  return taken === 1;
}

/** Schedules the next run in `inS` seconds. Only the leaseholder calls it. */
export async function scheduleNextRun(tx: Sql, name: string, inS: number): Promise<void> {
  await tx.run(`update beats set due_at = clock_timestamp() + make_interval(secs => $2) where name = $1`, [
    name,
    inS,
  ]);
}

/**
 * Claims a run on the business clock, without a lease. Returns true in one process, then not before `nextAt`.
 */
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
