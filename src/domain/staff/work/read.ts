/** Stuck work of all queues, as staff see it. */
import { fail } from '../../../kernel/fail.ts';
import { formatRfc3339, MINUTE_MS } from '../../../kernel/time.ts';
import { WORK_LIMITS, type WorkQueueName, type WorkState } from '../../../spec/staff/work.ts';
import { findWork, listWork, type WorkRow } from '../../../store/service/work.ts';
import type { Service } from '../../context.ts';
import { formatSubject, formatWorkName, requireWorkName } from './name.ts';

export interface WorkQuery {
  readonly queue?: WorkQueueName;
  readonly state?: WorkState;
  /** The last id that was read. */
  readonly before?: string;
  readonly limit: number;
}

type Deps = Pick<Service, 'db' | 'clock'>;

export type WorkObject = ReturnType<typeof toWorkObject>;

/** Lists work that fails, is late, or was given up. */
export async function listWorkObjects(
  service: Deps,
  { before, limit, ...query }: WorkQuery,
): Promise<{ readonly work: readonly WorkObject[]; readonly hasMore: boolean }> {
  const filter = { ...query, ...(before !== undefined && { before: requireWorkName(before) }) };
  const rows = await listWork(service.db, { ...filter, ...times(service), limit: limit + 1 });
  return { work: rows.slice(0, limit).map(toWorkObject), hasMore: rows.length > limit };
}

/** By its id, stuck or not. Fails with `not_found` if the work has ended. */
export async function readWork(service: Deps, id: string): Promise<WorkObject> {
  const row = await findWork(service.db, requireWorkName(id), times(service));
  return row === undefined
    ? fail('not_found', {}, 'There is no such work, or it has ended.')
    : toWorkObject(row);
}

function times({ clock }: Pick<Service, 'clock'>) {
  const now = clock.now().getTime();
  return {
    late: new Date(now - WORK_LIMITS.lateMinutes * MINUTE_MS),
    stuck: new Date(now - WORK_LIMITS.stuckMinutes * MINUTE_MS),
  };
}

function toWorkObject(row: WorkRow) {
  return {
    object: 'work' as const,
    /** The queue and the subject: `task:volume:vol_…`. */
    id: formatWorkName(row),
    queue: row.queue,
    kind: row.kind,
    subject: formatSubject(row),
    state: row.state,
    attempts: row.attempts,
    last_fault: row.last_fault,
    /** Whether a worker has it now. */
    running: row.running,
    since: row.since === null ? null : formatRfc3339(row.since),
    next_try_at: row.due_at === null ? null : formatRfc3339(row.due_at),
  };
}
