/**
 * Tasks: work with a driver that is no operation on a server. A task says only what it is about; what is to be done
 * stands in the tables of its subject, so asking twice is asking once. A finished task is deleted.
 */
import type { Sql } from '../kernel/sql.ts';

/**
 * What a task is about; `subject` is the id of the volume, the snapshot, the server (`filter`, `traffic`, `rdns`), the
 * image, the request for a new password, or the customer whose account is being deleted.
 */
export type TaskKind =
  | 'volume'
  | 'snapshot'
  | 'filter'
  | 'traffic'
  | 'image_remove'
  | 'reset_request'
  | 'account_delete'
  | 'rdns';

export interface TaskRow {
  readonly kind: TaskKind;
  readonly subject: string;
  /** As it was when this was claimed: whoever asks again raises it. */
  readonly revision: number;
  /** Times in a row that it failed. */
  readonly attempts: number;
  readonly lease_id: string;
}

/** Makes the task due now. One that is under way is not finished by its present holder but runs again. */
export async function enqueueTask(
  tx: Sql,
  task: { readonly kind: TaskKind; readonly subject: string; readonly now: Date },
): Promise<void> {
  await enqueueTasks(tx, { kind: task.kind, subjects: [task.subject], now: task.now });
}

/** The same for many of one kind. */
export async function enqueueTasks(
  tx: Sql,
  tasks: { readonly kind: TaskKind; readonly subjects: readonly string[]; readonly now: Date },
): Promise<void> {
  await tx.run(
    `insert into tasks as t (kind, subject, due_at)
     select $1, subject, $3 from unnest($2::uuid[]) as asked (subject) order by subject
     on conflict (kind, subject) do update
        set revision = t.revision + 1, attempts = 0, due_at = least(t.due_at, excluded.due_at)`,
    [tasks.kind, tasks.subjects, tasks.now],
  );
}

/** Leases due tasks, most overdue first. The lease ends by itself: the database's clock counts. */
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

export async function extendTaskLease(tx: Sql, leaseId: string, leaseS: number): Promise<void> {
  await tx.run(
    `update tasks set leased_until = clock_timestamp() + make_interval(secs => $2) where lease_id = $1`,
    [leaseId, leaseS],
  );
}

/** Gives back what was claimed and not finished. */
export async function releaseTaskLease(tx: Sql, leaseId: string): Promise<void> {
  await tx.run(`update tasks set lease_id = null, leased_until = null where lease_id = $1`, [leaseId]);
}

/** Deletes the task; false when it was asked for again meanwhile, or is no longer ours. */
export async function finishTask(tx: Sql, task: TaskRow): Promise<boolean> {
  const gone = await tx.run(
    `delete from tasks where kind = $1 and subject = $2 and lease_id = $3 and revision = $4`,
    [task.kind, task.subject, task.lease_id, task.revision],
  );
  return gone === 1;
}

/**
 * Lets go of the task until `dueAt`; one that was asked for again stays due as it is. False when it is no longer ours.
 */
export async function delayTask(
  tx: Sql,
  task: TaskRow,
  next: { readonly dueAt: Date; readonly attempts: number },
): Promise<boolean> {
  const changed = await tx.run(
    `update tasks
        set due_at = case when revision = $4 then $5 else due_at end,
            attempts = case when revision = $4 then $6 else attempts end,
            lease_id = null, leased_until = null
      where kind = $1 and subject = $2 and lease_id = $3`,
    [task.kind, task.subject, task.lease_id, task.revision, next.dueAt, next.attempts],
  );
  return changed === 1;
}

/** When the next task is due, held or not. */
export async function nextTaskDue(tx: Sql): Promise<Date | null> {
  const row = await tx.row<{ due_at: Date }>(`select due_at from tasks order by due_at limit 1`);
  return row?.due_at ?? null;
}

/** Whether a task is held by somebody, or due by `soon`. */
export async function hasPendingTasks(tx: Sql, soon: Date): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>(
    `select exists (select from tasks where due_at <= $1 or leased_until > clock_timestamp()) as found`,
    [soon],
  );
  return row?.found ?? false;
}
