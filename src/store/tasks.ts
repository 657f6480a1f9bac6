/**
 * Tasks: driver work that is not an operation on a server. A task only names its subject; the work to do is
 * derived from the subject's tables, so requesting it twice is harmless. A finished task is deleted.
 */
import type { IdKind } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';

/** The kind of each task's subject. */
export const TASK_SUBJECTS = {
  volume: 'volume',
  snapshot: 'snapshot',
  backup: 'server',
  filter: 'server',
  traffic: 'server',
  image_remove: 'customImage',
  reset_request: 'request',
  /** The customer's account is being deleted. */
  account_delete: 'customer',
  rdns: 'server',
  move: 'server',
  volume_move: 'volume',
  snapshot_move: 'snapshot',
  /** Its host is lost. */
  lost_server: 'server',
} as const satisfies Readonly<Record<string, IdKind>>;

export type TaskKind = keyof typeof TASK_SUBJECTS;

/** Done, or run again after this much business time. */
export type TaskResult = 'done' | { readonly againMs: number };

export interface TaskRow {
  readonly kind: TaskKind;
  readonly subject: string;
  /** The revision at the time of the claim: every new request increments it. */
  readonly revision: number;
  /** Consecutive failures. */
  readonly attempts: number;
  readonly lease_id: string;
}

/**
 * Makes the task due now. If it is in progress, it runs again instead of being finished by its leaseholder.
 */
export async function enqueueTask(
  tx: Sql,
  task: { readonly kind: TaskKind; readonly subject: string; readonly now: Date },
): Promise<void> {
  await enqueueTasks(tx, { kind: task.kind, subjects: [task.subject], now: task.now });
}

/** Does the same for many tasks of one kind. */
export async function enqueueTasks(
  tx: Sql,
  tasks: { readonly kind: TaskKind; readonly subjects: readonly string[]; readonly now: Date },
): Promise<void> {
  await tx.run(
    `insert into tasks as t (kind, subject, due_at)
     select $1, subject, $3 from unnest($2::uuid[]) as requested (subject) order by subject
     on conflict (kind, subject) do update
        set revision = t.revision + 1, attempts = 0, last_fault = null, failing_since = null,
            -- Also of a task that the operator gave up.
            due_at = least(t.due_at, excluded.due_at)`,
    [tasks.kind, tasks.subjects, tasks.now],
  );
}

/** Leases due tasks, most overdue first. The lease expires on the database's clock. */
export async function claimTasks(
  tx: Sql,
  claim: { leaseId: string; now: Date; leaseS: number; limit: number },
): Promise<TaskRow[]> {
  return await tx.rows<TaskRow>(
    `with due as (
       select kind, subject from tasks
        where due_at <= $1 and (leased_until is null or leased_until < clock_timestamp())
        order by due_at limit $2 for update skip locked)
     update tasks t set lease_id = $3, leased_until = clock_timestamp() + make_interval(secs => $4)
       from due where t.kind = due.kind and t.subject = due.subject
     returning t.kind, t.subject, t.revision, t.attempts, t.lease_id`,
    [claim.now, claim.limit, claim.leaseId, claim.leaseS],
  );
}

/** Whether the task is still leased to the caller. */
export async function holdsTaskLease(
  tx: Sql,
  { kind, subject, lease_id: leaseId }: TaskRow,
): Promise<boolean> {
  const found = await tx.row(
    `select from tasks
      where kind = $1 and subject = $2 and lease_id = $3 and leased_until > clock_timestamp()`,
    [kind, subject, leaseId],
  );
  return found !== undefined;
}

/** Deletes the task. Returns false when it was requested again meanwhile, or the lease was lost. */
export async function finishTask(tx: Sql, task: TaskRow): Promise<boolean> {
  const deleted = await tx.run(
    `delete from tasks where kind = $1 and subject = $2 and lease_id = $3 and revision = $4`,
    [task.kind, task.subject, task.lease_id, task.revision],
  );
  return deleted === 1;
}

/**
 * Releases the task until `dueAt`; a task requested again meanwhile stays due. Returns false when the lease
 * was lost.
 */
export async function delayTask(
  tx: Sql,
  task: TaskRow,
  next: {
    readonly dueAt: Date;
    readonly attempts: number;
    /** Why the attempt failed; null: it did not. */
    readonly fault: string | null;
    readonly now: Date;
  },
): Promise<boolean> {
  const changed = await tx.run(
    `update tasks
        set due_at = case when revision = $revision then $dueAt else due_at end,
            attempts = case when revision = $revision then $attempts else attempts end,
            last_fault = $fault,
            failing_since = case when $fault::text is not null then coalesce(failing_since, $now) end,
            lease_id = null, leased_until = null
      where kind = $kind and subject = $subject and lease_id = $lease_id`,
    { ...task, ...next },
  );
  return changed === 1;
}

/**
 * Makes the task due now, also after it was given up. If a worker has it, it is due again afterward. Returns
 * false if there is none.
 */
export async function retryTask(
  tx: Sql,
  task: { readonly kind: TaskKind; readonly subject: string; readonly now: Date },
): Promise<boolean> {
  const changed = await tx.run(
    `update tasks set due_at = least(due_at, $now), revision = revision + 1
      where kind = $kind and subject = $subject`,
    task,
  );
  return changed === 1;
}

/** Nothing tries the task until it is requested again. Returns false if a worker has it, or there is none. */
export async function giveUpTask(tx: Sql, task: Pick<TaskRow, 'kind' | 'subject'>): Promise<boolean> {
  const changed = await tx.run(
    `update tasks set due_at = null, lease_id = null, leased_until = null
      where kind = $kind and subject = $subject
        and (leased_until is null or leased_until < clock_timestamp())`,
    task,
  );
  return changed === 1;
}

/** Whether a task is leased, or due by `soon`. */
export async function hasPendingTasks(tx: Sql, soon: Date): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>(
    `select exists (select from tasks where due_at <= $1 or leased_until > clock_timestamp()) as found`,
    [soon],
  );
  return row?.found ?? false;
}

// ---- recurring jobs: each runs in one process at a time, which holds a lease while it works

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
