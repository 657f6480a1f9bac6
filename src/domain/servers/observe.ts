/** Step `observe`: asks the driver about all installs at once, and takes each to `running` when it is. */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { MachineState } from '../../ports/compute.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { finishOperation, type OperationRow } from '../../store/operations.ts';
import { findServer, lockServer, setServerRunning } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { serverObject } from './object.ts';
import { OBSERVE_EVERY_MS } from './provision.ts';
import {
  advance,
  LostLease,
  lostLease,
  postpone,
  type StepResult,
  shownOperation,
  soonAgain,
} from './step.ts';
import { ANSWER_MAX_MS, answerWithin } from './within.ts';

/** An install that takes longer than this on one host has failed there; the simulated ones are shorter. */
export const INSTALL_MAX_MS = 20 * MINUTE_MS;
/** A host that is silent this often in a row (some minutes) is left. */
const SILENT_MAX = 12;

export async function observeInstalls(service: Service, operations: OperationRow[]): Promise<void> {
  const states = await observeAll(service, operations);
  crashPoint('provision.observed');
  await Promise.all(
    operations.map(async (operation) => {
      try {
        await record(service, operation, states.get(operation.server_id));
      } catch (error) {
        if (error instanceof LostLease) return;
        await postpone(service, operation, error);
      }
    }),
  );
}

async function observeAll(
  service: Service,
  operations: readonly OperationRow[],
): Promise<Map<string, MachineState>> {
  try {
    const ids = operations.map((operation) => operation.server_id);
    const states = await answerWithin(ANSWER_MAX_MS, service.compute.observe(ids));
    return new Map(states.map((state) => [state.id, state]));
  } catch (error) {
    for (const operation of operations) {
      service.log.warn({ err: error, ...shownOperation(operation) }, 'machine could not be looked at');
    }
    return new Map();
  }
}

async function record(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (seen?.state === 'running') return await recordRunning(service, operation);
  if (seen?.state === 'stopped') await switchOn(service, operation);
  const result = next(service, operation, seen);
  await advance(service.db, service, operation, result);
  if (result.fault) {
    service.log.warn({ ...shownOperation(operation), reason: result.fault }, 'install does not go on');
  }
}

/** An install goes on only in a machine that is on. One that could not be switched on is looked at again soon. */
async function switchOn(service: Service, operation: OperationRow): Promise<void> {
  try {
    await answerWithin(ANSWER_MAX_MS, service.compute.power(operation.server_id, 'on'));
  } catch (error) {
    service.log.warn({ err: error, ...shownOperation(operation) }, 'machine could not be switched on');
  }
}

function next(service: Service, operation: OperationRow, seen: MachineState | undefined): StepResult {
  const tooLate = service.clock.now().getTime() - operation.placed_at.getTime() > INSTALL_MAX_MS;
  const left = { step: 'leave_host', fault: 'the install took too long' } as const;
  switch (seen?.state) {
    case 'installing':
    case 'stopped':
      return tooLate ? left : { inMs: OBSERVE_EVERY_MS };
    case 'absent':
      // The host lost it: make it again, on the same host while there is time.
      return tooLate ? left : { step: 'ensure', fault: 'the host lost the machine' };
    default:
      if (operation.attempts < SILENT_MAX) return soonAgain(service, operation);
      return { step: 'leave_host', fault: 'the host did not answer' };
  }
}

async function recordRunning(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    const { event } = move(SERVER_TRANSITIONS, 'installing', 'install_completes');
    if (!(await finishOperation(tx, operation))) lostLease();
    await setServerRunning(tx, { id: server.id, now });
    const running = await findServer(tx, server.id);
    if (!running) return;
    const { customer_id: customerId } = running;
    await recordEvent(tx, { customerId, type: event, object: serverObject(running) }, now);
    const resource = showId('server', running.id);
    await recordAudit(tx, { actor: systemActor(now), action: 'server.run', resource, customerId }, now);
    crashPoint('provision.running_written');
  });
  crashPoint('provision.running_recorded');
}
