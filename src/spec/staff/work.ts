/** Work of all queues, as staff see and control it. */
import { act, MACHINES, manage, read } from './roles.ts';

/** Each queue, and what one piece of its work is. */
export const WORK_QUEUES = {
  operation: 'the work that is under way on a server',
  task: 'other work of a driver, such as an attachment or a snapshot',
  file: 'an image on its way to a host',
  mail: 'a mail to a customer',
  webhook: 'the deliveries of a webhook',
  event: 'an event without its sequence number',
  billing: 'a server whose cycle has ended',
  chain: 'the reading of a chain',
} as const;
export type WorkQueueName = keyof typeof WORK_QUEUES;
export const WORK_QUEUE_NAMES = Object.keys(WORK_QUEUES) as WorkQueueName[];

/**
 * `failing`: the last attempt failed. `late`: overdue, or under way for too long. `given_up`: it waits until
 * someone retries it or requests it again. `undelivered`: a mail that has ended.
 */
export const WORK_STATES = ['failing', 'late', 'given_up', 'undelivered'] as const;
export type WorkState = (typeof WORK_STATES)[number];

export const WORK_LIMITS = {
  /** Work that is overdue for longer is late. */
  lateMinutes: 10,
  /** An operation that runs for longer is stuck. Moves take as long as their disks are large. */
  stuckMinutes: 30,
} as const;

export const WORK_OPERATIONS = {
  'work.list': read('work list', 'List work that fails, is late, or was given up'),
  'work.get': read('work show', 'Show a piece of work'),
  'work.retry': manage('work retry', 'Try a piece of work again now', MACHINES),
  'work.give_up': act('work give-up', 'Stop trying a piece of work', MACHINES),
} as const;
