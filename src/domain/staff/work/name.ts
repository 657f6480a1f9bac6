/** The id of a piece of work, as staff see it: its queue and subject, such as `task:volume:vol_…`. */
import { fail } from '../../../kernel/fail.ts';
import { formatId, type IdKind, parseId } from '../../../kernel/ids.ts';
import { isCoinCode } from '../../../spec/coins.ts';
import { WORK_QUEUES, type WorkQueueName } from '../../../spec/staff/work.ts';
import type { WorkName, WorkRow } from '../../../store/service/work.ts';
import { TASK_SUBJECTS, type TaskKind } from '../../../store/tasks.ts';

/** The kind of the subject of a queue, if it is an id. */
const SUBJECTS: Readonly<Partial<Record<WorkQueueName, IdKind>>> = {
  operation: 'server',
  mail: 'mail',
  webhook: 'webhook',
  event: 'event',
  billing: 'server',
};

export function formatWorkName(row: WorkRow): string {
  const { queue, kind } = row;
  return queue === 'task' ? `task:${kind}:${formatSubject(row)}` : `${queue}:${formatSubject(row)}`;
}

export function formatSubject({ queue, kind, subject }: WorkRow): string {
  if (queue === 'task') return formatId(TASK_SUBJECTS[kind as TaskKind], subject.slice(kind.length + 1));
  const idKind = SUBJECTS[queue];
  return idKind === undefined ? subject : formatId(idKind, subject);
}

/** Reads the id. Fails with `not_found`. */
export function requireWorkName(id: string): WorkName {
  const [, queue = '', subject = ''] = /^([a-z]+):(.+)$/.exec(id) ?? [];
  const name = isQueue(queue) ? readSubject(queue, subject) : undefined;
  return name === undefined || !isQueue(queue)
    ? fail('not_found', {}, 'The id of a piece of work is its queue and subject, such as task:volume:vol_….')
    : { queue, subject: name };
}

function isQueue(text: string): text is WorkQueueName {
  return Object.hasOwn(WORK_QUEUES, text);
}

function readSubject(queue: WorkQueueName, shown: string): string | undefined {
  if (queue === 'chain') return isCoinCode(shown) ? shown : undefined;
  if (queue === 'file') return /^[^:]+:[a-z]+:[0-9a-f]{64}$/.test(shown) ? shown : undefined;
  if (queue !== 'task') return parseId(SUBJECTS[queue] as IdKind, shown);
  const [kind = '', subject = ''] = shown.split(':');
  if (!Object.hasOwn(TASK_SUBJECTS, kind)) return undefined;
  const uuid = parseId(TASK_SUBJECTS[kind as TaskKind], subject);
  return uuid && `${kind}:${uuid}`;
}
