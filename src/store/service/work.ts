/**
 * Stuck work of all queues, for staff. Each part reads an index of due rows, or a small table: operations,
 * tasks, files, or coins.
 */
import type { Sql } from '../../kernel/sql.ts';
import { WORK_QUEUE_NAMES, type WorkQueueName, type WorkState } from '../../spec/staff/work.ts';

export interface WorkRow {
  readonly queue: WorkQueueName;
  /** The kind of operation, task, mail, or file; otherwise the queue. */
  readonly kind: string;
  /** Unique in the queue: a UUID, `kind:uuid` of a task, `backend:kind:sha256` of a file, or a coin. */
  readonly subject: string;
  readonly state: WorkState | null;
  /** Consecutive failures. */
  readonly attempts: number;
  readonly last_fault: string | null;
  /** When it began, began to fail, or was due. */
  readonly since: Date | null;
  /** Null: nothing tries it again. */
  readonly due_at: Date | null;
  /** Whether a worker has it now. */
  readonly running: boolean;
}

export type WorkName = Pick<WorkRow, 'queue' | 'subject'>;

/** Omitted fields match everything. */
export interface WorkFilter {
  readonly queue?: WorkQueueName;
  readonly state?: WorkState;
  /** Exactly this piece, stuck or not. */
  readonly one?: WorkName;
  /** Only what comes after it in the list. */
  readonly before?: WorkName;
  /** Work that was due by then is late. */
  readonly late: Date;
  /** Operations that began by then are late, except moves. */
  readonly stuck: Date;
  readonly limit: number;
}

const LEASED = 'coalesce(leased_until > clock_timestamp(), false)';

/** The state of a row with a due date: `due` is an expression. */
const stateOf = (due = 'due_at') =>
  `case when due_at is null then 'given_up' when attempts > 0 then 'failing' when ${due} then 'late' end`;

interface Part {
  readonly columns: string;
  readonly from: string;
  /** The rows that can be stuck, so that an index finds them. */
  readonly stuck: string;
  /** Finds `$subject` by the primary key. */
  readonly one: string;
}

const FILE_LATE = `due_at < clock_timestamp() - interval '10 minutes'`;

const PARTS: Readonly<Record<WorkQueueName, Part>> = {
  operation: {
    columns: `kind, server_id::text as subject,
      case when attempts > 0 then 'failing'
           when created_at < $stuck and kind <> 'move' then 'late' end as state,
      attempts, last_fault, created_at as since, due_at, ${LEASED} as running`,
    from: 'operations',
    stuck: `attempts > 0 or (created_at < $stuck and kind <> 'move')`,
    one: 'server_id = $subject::uuid',
  },
  task: {
    columns: `kind, concat_ws(':', kind, subject) as subject, ${stateOf('due_at < $late')} as state,
      attempts, last_fault, coalesce(failing_since, due_at) as since, due_at, ${LEASED} as running`,
    from: 'tasks',
    stuck: 'attempts > 0 or due_at is null or due_at < $late',
    one: `kind = split_part($subject, ':', 1) and subject = split_part($subject, ':', 2)::uuid`,
  },
  file: {
    columns: `kind, concat_ws(':', backend, kind, image_sha256) as subject,
      ${stateOf(FILE_LATE)} as state,
      attempts, last_fault, coalesce(awaited_at, requested_at) as since, due_at, ${LEASED} as running`,
    from: 'backend_files',
    stuck: `ready_at is null and (attempts > 0 or due_at is null or ${FILE_LATE})`,
    one: `(backend, kind, image_sha256)
      = (split_part($subject, ':', 1), split_part($subject, ':', 2), split_part($subject, ':', 3))`,
  },
  mail: {
    columns: `kind, id::text as subject,
      case when due_at is null then case when status in ('failed', 'unknown') then 'undelivered' end
           when attempts > 0 then 'failing' when due_at < $late then 'late' end as state,
      attempts, fault as last_fault, created_at as since, due_at, ${LEASED} as running`,
    from: 'mails',
    stuck: `(due_at is not null and (attempts > 0 or due_at < $late))`,
    one: 'id = $subject::uuid',
  },
  webhook: {
    columns: `'webhook' as kind, webhook_id::text as subject,
      case when due_at < $late then 'late' end as state,
      0 as attempts, null as last_fault, due_at as since, due_at, ${LEASED} as running`,
    from: 'webhook_queues',
    stuck: 'due_at < $late',
    one: 'webhook_id = $subject::uuid',
  },
  event: {
    columns: `'event' as kind, id::text as subject,
      case when seq is null and created_at < $late then 'late' end as state,
      0 as attempts, null as last_fault, created_at as since, created_at as due_at, false as running`,
    from: 'events',
    stuck: 'seq is null and created_at < $late',
    one: 'id = $subject::uuid',
  },
  billing: {
    columns: `'billing' as kind, id::text as subject, case when bill_at < $late then 'late' end as state,
      0 as attempts, null as last_fault, bill_at as since, bill_at as due_at, false as running`,
    from: 'servers',
    stuck: 'bill_at < $late',
    one: 'id = $subject::uuid',
  },
  chain: {
    columns: `'chain' as kind, code as subject, case when failures > 0 then 'failing' end as state,
      failures as attempts, last_fault, read_at as since, retry_at as due_at, ${LEASED} as running`,
    from: 'coins',
    stuck: 'failures > 0',
    one: 'code = $subject',
  },
};

/** Mails that have ended are listed only when asked for. */
const UNDELIVERED: Part = { ...PARTS.mail, stuck: `due_at is null and status in ('failed', 'unknown')` };

/** Lists by queue, the newest subjects first. */
export async function listWork(tx: Sql, filter: WorkFilter): Promise<WorkRow[]> {
  const { queue, state = null, before } = filter;
  const names = WORK_QUEUE_NAMES.filter((name) => queue === undefined || name === queue);
  const parts = names.map((name) => {
    const part = name === 'mail' && state === 'undelivered' ? UNDELIVERED : PARTS[name];
    return `(select * from (${select(name, part, part.stuck)}) as part
              where ($state::text is null or state = $state)
                and ($beforeQueue::text is null or (queue, subject) < ($beforeQueue, $beforeSubject::text))
              order by subject desc limit $limit)`;
  });
  return await tx.rows<WorkRow>(
    `select * from (${parts.join(' union all ')}) as work order by queue desc, subject desc limit $limit`,
    { ...filter, state, beforeQueue: before?.queue ?? null, beforeSubject: before?.subject ?? null },
  );
}

/** Finds a piece of work, stuck or not. */
export async function findWork(
  tx: Sql,
  { queue, subject }: WorkName,
  times: Pick<WorkFilter, 'late' | 'stuck'>,
): Promise<WorkRow | undefined> {
  return await tx.row<WorkRow>(select(queue, PARTS[queue], PARTS[queue].one), { subject, ...times });
}

function select(queue: WorkQueueName, { columns, from }: Part, condition: string): string {
  return `select '${queue}' as queue, ${columns} from ${from} where ${condition}`;
}
