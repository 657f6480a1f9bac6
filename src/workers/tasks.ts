/** Runs tasks: claims them, lets the handler ensure the wanted state, then finishes or delays them. */
import type { Service } from '../domain/context.ts';
import { tearDownAccount } from '../domain/customers/deletion/tear-down.ts';
import { processResetRequest } from '../domain/customers/reset-password.ts';
import { ensureRdns } from '../domain/dns/ensure.ts';
import { applyFilter } from '../domain/firewall/apply.ts';
import { removeImageBlob } from '../domain/images/remove.ts';
import { settleLostServer } from '../domain/servers/lost/settle.ts';
import { continueDiskMove } from '../domain/servers/moves/disk-steps.ts';
import { continueMove } from '../domain/servers/moves/start.ts';
import { describeFault } from '../domain/servers/operations/step.ts';
import { applyTraffic } from '../domain/servers/traffic.ts';
import { ensureBackup } from '../domain/snapshots/backups/ensure.ts';
import { ensureSnapshot } from '../domain/snapshots/ensure.ts';
import { ensureVolume } from '../domain/volumes/ensure.ts';
import { BACKOFF, backoffMs } from '../kernel/backoff.ts';
import { runWithLease } from '../kernel/faults/lease-context.ts';
import { formatId } from '../kernel/ids.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { nextDue } from '../store/leases.ts';
import {
  delayTask,
  enqueueTask,
  finishTask,
  hasPendingTasks,
  holdsTaskLease,
  TASK_SUBJECTS,
  type TaskKind,
  type TaskResult,
  type TaskRow,
} from '../store/tasks.ts';
import { processClaimed, runBatchesConcurrently, TASKS as TASK_QUEUE } from './claim.ts';
import type { Job } from './job.ts';

const BATCH_SIZE = 8;
/** Work that is polled every half second, such as a snapshot in progress, is in progress, not planned. */
const IN_PROGRESS_WINDOW_MS = 1.5 * SECOND_MS;

/**
 * Reads the desired state of the subject, applies it with the driver outside any transaction, and records the
 * result. It may run twice, even concurrently. An error is retried after 1, 2, 4 … 30 seconds.
 */
type Ensure = (service: Service, subject: string) => Promise<TaskResult>;

const TASKS: Readonly<Record<TaskKind, Ensure>> = {
  volume: ensureVolume,
  snapshot: ensureSnapshot,
  backup: ensureBackup,
  filter: applyFilter,
  traffic: applyTraffic,
  image_remove: removeImageBlob,
  reset_request: processResetRequest,
  account_delete: tearDownAccount,
  rdns: ensureRdns,
  move: continueMove,
  volume_move: continueDiskMove,
  snapshot_move: continueDiskMove,
  lost_server: settleLostServer,
};

/** The result of an attempt that failed. */
interface Failed {
  readonly fault: string;
}

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

async function runTask(service: Service, task: TaskRow): Promise<TaskResult | Failed> {
  try {
    // A call of a worker that overslept reaches no host.
    const isHeld = () => holdsTaskLease(service.db, task);
    return await runWithLease(isHeld, () => TASKS[task.kind](service, task.subject));
  } catch (error) {
    const attempts = task.attempts + 1;
    const subject = formatId(TASK_SUBJECTS[task.kind], task.subject);
    const shown = { err: error, task: task.kind, subject, attempts };
    if (attempts % 10 === 0) service.log.error(shown, 'task is not progressing');
    else service.log.warn(shown, 'task failed');
    return { fault: describeFault(error) };
  }
}

async function recordTaskResult(service: Service, task: TaskRow, result: TaskResult | Failed): Promise<void> {
  const now = service.clock.now();
  if (result === 'done' && (await finishTask(service.db, task))) return;
  if (await delayTask(service.db, task, { ...nextAttempt(task, result, now), now })) return;
  // We overslept the lease: another worker ensured the state, but our call may have come last. Run again,
  // even if the task was given up meanwhile.
  await enqueueTask(service.db, { kind: task.kind, subject: task.subject, now });
}

function nextAttempt({ attempts: failed }: TaskRow, result: TaskResult | Failed, now: Date) {
  const after = (ms: number) => new Date(now.getTime() + ms);
  if (result === 'done') return { dueAt: now, attempts: 0, fault: null };
  if ('againMs' in result) return { dueAt: after(result.againMs), attempts: 0, fault: null };
  const attempts = failed + 1;
  return { dueAt: after(backoffMs(BACKOFF.step, attempts)), attempts, fault: result.fault };
}
