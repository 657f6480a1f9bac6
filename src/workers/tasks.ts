/** Runs tasks: claims them, lets the handler ensure the wanted state, then finishes or delays them. */

import type { Service } from '../domain/context.ts';
import { TASKS } from '../domain/tasks.ts';
import { BACKOFF, backoffMs } from '../kernel/backoff.ts';
import { formatId, type IdKind } from '../kernel/ids.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { nextDue } from '../store/leases.ts';
import {
  delayTask,
  enqueueTask,
  finishTask,
  hasPendingTasks,
  type TaskKind,
  type TaskResult,
  type TaskRow,
} from '../store/tasks.ts';
import { processClaimed, runBatchesConcurrently, TASKS as TASK_QUEUE } from './claim.ts';
import type { Job } from './job.ts';

const BATCH_SIZE = 8;
/** Work that is polled every half second, such as a snapshot in progress, is in progress, not planned. */
const IN_PROGRESS_WINDOW_MS = 1.5 * SECOND_MS;

/** The kind of id that each task's subject is, for the log. */
const SUBJECTS: Record<TaskKind, IdKind> = {
  volume: 'volume',
  snapshot: 'snapshot',
  filter: 'server',
  traffic: 'server',
  image_remove: 'customImage',
  reset_request: 'request',
  account_delete: 'customer',
  rdns: 'server',
};

export function tasksJob(service: Service): Job {
  return {
    name: 'tasks',
    run: () =>
      runBatchesConcurrently(() =>
        processClaimed(TASK_QUEUE, service, BATCH_SIZE, (tasks) => runTasks(service, tasks)),
      ),
    nextDue: () => nextDue(service.db, 'tasks'),
    busy: () => hasPendingTasks(service.db, new Date(service.clock.now().getTime() + IN_PROGRESS_WINDOW_MS)),
  };
}

async function runTasks(service: Service, tasks: readonly TaskRow[]): Promise<void> {
  await Promise.all(
    tasks.map(async (task) => {
      try {
        await recordTaskResult(service, task, await runTask(service, task));
      } catch (error) {
        // Its lease is released or expires, and the task stays.
        service.log.warn({ err: error, task: task.kind }, 'saving the task result failed');
      }
    }),
  );
}

async function runTask(service: Service, task: TaskRow): Promise<TaskResult | 'failed'> {
  try {
    return await TASKS[task.kind](service, task.subject);
  } catch (error) {
    const attempts = task.attempts + 1;
    const subject = formatId(SUBJECTS[task.kind], task.subject);
    const shown = { err: error, task: task.kind, subject, attempts };
    if (attempts % 10 === 0) service.log.error(shown, 'task is not progressing');
    else service.log.warn(shown, 'task failed');
    return 'failed';
  }
}

async function recordTaskResult(
  service: Service,
  task: TaskRow,
  result: TaskResult | 'failed',
): Promise<void> {
  const now = service.clock.now();
  if (result === 'done' && (await finishTask(service.db, task))) return;
  const inMs = retryDelayMs(task, result);
  const attempts = result === 'failed' ? task.attempts + 1 : 0;
  const next = { dueAt: new Date(now.getTime() + inMs), attempts };
  if (await delayTask(service.db, task, next)) return;
  // We overslept the lease: another worker ensured the state, but our call may have come last. Run again.
  await enqueueTask(service.db, { kind: task.kind, subject: task.subject, now });
}

function retryDelayMs(task: TaskRow, result: TaskResult | 'failed'): number {
  if (result === 'done') return 0;
  if (result !== 'failed') return result.againMs;
  return backoffMs(BACKOFF.step, task.attempts + 1);
}
