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
import { applyTraffic } from '../domain/servers/traffic.ts';
import { ensureBackup } from '../domain/snapshots/backups/ensure.ts';
import { ensureSnapshot } from '../domain/snapshots/ensure.ts';
import { ensureVolume } from '../domain/volumes/ensure.ts';
import { BACKOFF, backoffMs } from '../kernel/backoff.ts';
import { runWithLease } from '../kernel/faults/lease-context.ts';
import { formatId, type IdKind } from '../kernel/ids.ts';
import { SECOND_MS } from '../kernel/time.ts';
import { nextDue } from '../store/leases.ts';
import {
  delayTask,
  enqueueTask,
  finishTask,
  hasPendingTasks,
  holdsTaskLease,
  type TaskKind,
  type TaskResult,
  type TaskRow,
} from '../store/tasks.ts';
import { processClaimed, runBatchesConcurrently, TASKS as TASK_QUEUE } from './claim.ts';
import type { Job } from './job.ts';

const BATCH_SIZE = 8;
/** Work that is polled every half second, such as a snapshot in progress, is in progress, not planned. */
const IN_PROGRESS_WINDOW_MS = 1.5 * SECOND_MS;

interface TaskRule {
  /** The kind of id that the subject is, for the log. */
  readonly subject: IdKind;
  /**
   * Reads the desired state of the subject, applies it with the driver outside any transaction, and records
   * the result. It may run twice, even concurrently. An error is retried after 1, 2, 4 … 30 seconds.
   */
  readonly ensure: (service: Service, subject: string) => Promise<TaskResult>;
}

const TASKS: Readonly<Record<TaskKind, TaskRule>> = {
  volume: { subject: 'volume', ensure: ensureVolume },
  snapshot: { subject: 'snapshot', ensure: ensureSnapshot },
  backup: { subject: 'server', ensure: ensureBackup },
  filter: { subject: 'server', ensure: applyFilter },
  traffic: { subject: 'server', ensure: applyTraffic },
  image_remove: { subject: 'customImage', ensure: removeImageBlob },
  reset_request: { subject: 'request', ensure: processResetRequest },
  account_delete: { subject: 'customer', ensure: tearDownAccount },
  rdns: { subject: 'server', ensure: ensureRdns },
  move: { subject: 'server', ensure: continueMove },
  volume_move: { subject: 'volume', ensure: continueDiskMove },
  snapshot_move: { subject: 'snapshot', ensure: continueDiskMove },
  lost_server: { subject: 'server', ensure: settleLostServer },
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
    // A call of a worker that overslept reaches no host.
    const isHeld = () => holdsTaskLease(service.db, task);
    return await runWithLease(isHeld, () => TASKS[task.kind].ensure(service, task.subject));
  } catch (error) {
    const attempts = task.attempts + 1;
    const subject = formatId(TASKS[task.kind].subject, task.subject);
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
