/** Carries tasks out: claim, let the handler ensure what is wanted, finish or put off. */
import type { Service } from '../domain/context.ts';
import { TASKS, type TaskResult } from '../domain/tasks.ts';
import { crashPoint } from '../kernel/crash.ts';
import { type IdKind, showId } from '../kernel/ids.ts';
import { SECOND_MS } from '../kernel/time.ts';
import {
  delayTask,
  enqueueTask,
  finishTask,
  nextTaskDue,
  type TaskKind,
  type TaskRow,
  tasksUnderWay,
} from '../store/tasks.ts';
import { workAbreast } from './abreast.ts';
import { claimedTasks } from './claim.ts';
import type { Duty } from './duty.ts';

const BATCH = 8;
/** What is looked at every half second, a snapshot being made say, is under way, not planned. */
const SOON_MS = 1.5 * SECOND_MS;
const LONGEST_WAIT_MS = 30 * SECOND_MS;

/** What the subject of each kind is, for the log. */
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

export function tasksDuty(service: Service): Duty {
  return {
    name: 'tasks',
    run: () => workAbreast(() => claimedTasks(service, BATCH, (tasks) => carryOut(service, tasks))),
    nextDue: () => nextTaskDue(service.db),
    busy: () => tasksUnderWay(service.db, new Date(service.clock.now().getTime() + SOON_MS)),
  };
}

async function carryOut(service: Service, tasks: readonly TaskRow[]): Promise<void> {
  crashPoint('task.claimed');
  await Promise.all(
    tasks.map(async (task) => {
      try {
        await settle(service, task, await attempt(service, task));
      } catch (error) {
        // Its lease is given back, or ends: the task stays.
        service.log.warn({ err: error, task: task.kind }, 'task could not be put down');
      }
    }),
  );
}

async function attempt(service: Service, task: TaskRow): Promise<TaskResult | 'failed'> {
  try {
    return await TASKS[task.kind](service, task.subject);
  } catch (error) {
    const attempts = task.attempts + 1;
    const subject = showId(SUBJECTS[task.kind], task.subject);
    const shown = { err: error, task: task.kind, subject, attempts };
    if (attempts % 10 === 0) service.log.error(shown, 'task does not get on');
    else service.log.warn(shown, 'task failed');
    return 'failed';
  }
}

async function settle(service: Service, task: TaskRow, result: TaskResult | 'failed'): Promise<void> {
  const now = service.clock.now();
  if (result === 'done' && (await finishTask(service.db, task))) return;
  const inMs = waitMs(task, result);
  const attempts = result === 'failed' ? task.attempts + 1 : 0;
  const next = { dueAt: new Date(now.getTime() + inMs), attempts };
  if (await delayTask(service.db, task, next)) return;
  // We overslept the lease: another one ensured what is wanted, but what we did may have come after it. Once more.
  await enqueueTask(service.db, { kind: task.kind, subject: task.subject, now });
}

function waitMs(task: TaskRow, result: TaskResult | 'failed'): number {
  if (result === 'done') return 0;
  if (result !== 'failed') return result.againMs;
  return Math.min(SECOND_MS * 2 ** Math.min(task.attempts, 10), LONGEST_WAIT_MS);
}
