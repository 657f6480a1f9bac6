/** How staff control the work of each queue. */
import { fail } from '../../../kernel/fail.ts';
import { formatId } from '../../../kernel/ids.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { HostFileKind } from '../../../ports/host-files.ts';
import type { CoinCode } from '../../../spec/coins.ts';
import type { WorkQueueName } from '../../../spec/staff/work.ts';
import {
  type BackendFile,
  giveUpBackendFile,
  retryBackendFile,
} from '../../../store/inventory/backend-files.ts';
import { giveUpMail, retryMail } from '../../../store/mails.ts';
import { giveUpTask, retryTask, type TaskKind } from '../../../store/tasks.ts';
import { retryCoin } from '../../../store/topups/coins.ts';
import type { Service } from '../../context.ts';
import { giveUpOperation, retryOperation } from '../../servers/operator/operations.ts';
import { requireWorkName } from './name.ts';
import { readWork } from './read.ts';

/** Returns false if nothing was changed; or says why the work cannot be controlled in this way. */
type Control = string | ((service: Service, subject: string) => Promise<boolean>);

const NOT_WORK_OF_ITS_OWN =
  'It is due, and a worker takes it as soon as one runs. See the log of the workers.';

const CONTROLS: Readonly<Record<WorkQueueName, { readonly retry: Control; readonly giveUp: Control }>> = {
  operation: {
    retry: (service, id) => retryOperation(service, formatId('server', id)).then(() => true),
    giveUp: (service, id) => giveUpOperation(service, formatId('server', id)).then(() => true),
  },
  task: {
    retry: ({ db, clock }, subject) => retryTask(db, { ...readTask(subject), now: clock.now() }),
    giveUp: ({ db }, subject) => giveUpTask(db, readTask(subject)),
  },
  file: {
    retry: ({ db }, subject) => retryBackendFile(db, readFile(subject)),
    giveUp: ({ db }, subject) => giveUpBackendFile(db, readFile(subject)),
  },
  mail: {
    retry: ({ db, clock }, id) => retryMail(db, { id, now: clock.now() }),
    giveUp: ({ db }, id) => giveUpMail(db, id),
  },
  webhook: {
    retry: NOT_WORK_OF_ITS_OWN,
    giveUp: 'Each delivery is given up after its last attempt. The customer can turn the webhook off.',
  },
  event: { retry: NOT_WORK_OF_ITS_OWN, giveUp: 'Every event is delivered.' },
  billing: {
    retry: NOT_WORK_OF_ITS_OWN,
    giveUp: 'Every cycle is charged. To stop the calendar, run: skerryd switch renewals off',
  },
  chain: {
    retry: ({ db }, coin) => retryCoin(db, coin as CoinCode),
    giveUp: 'Payments would be missed. To stop selling a coin, remove it from the settings.',
  },
};

function readTask(subject: string): { readonly kind: TaskKind; readonly subject: string } {
  const [kind, uuid = ''] = subject.split(':');
  return { kind: kind as TaskKind, subject: uuid };
}

function readFile(subject: string): BackendFile {
  const [backend = '', kind, imageSha256 = ''] = subject.split(':');
  return { backend, kind: kind as HostFileKind, imageSha256 };
}

/** Tries a piece of work now, also after it was given up. */
export async function retryWork(service: Service, id: string): Promise<void> {
  await control(service, id, 'retry', 'This work has ended.');
}

/**
 * Stops trying: an operation ends as failed, a mail is dropped, and a task or file waits until someone
 * retries it or it is requested again.
 */
export async function giveUpWork(service: Service, id: string): Promise<void> {
  await control(service, id, 'giveUp', 'A worker is busy with it, or it has ended. Try again in a moment.');
}

async function control(
  service: Service,
  id: string,
  verb: 'retry' | 'giveUp',
  failed: string,
): Promise<void> {
  const { queue, subject } = requireWorkName(id);
  await readWork(service, id);
  const change = CONTROLS[queue][verb];
  if (typeof change === 'string') throw new OperatorError(change);
  if (!(await change(service, subject))) fail('conflict_state', {}, failed);
  service.wake();
}
