/** Step `observe`: asks the driver about all installs at once, and takes each to `running` when it is. */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { MachineState } from '../../ports/compute.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { advanceOperation, finishOperation, type OperationRow } from '../../store/operations.ts';
import { findServer, lockServer, setServerRunning } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { serverObject } from './object.ts';
import { OBSERVE_EVERY_MS } from './provision.ts';
import { LostLease, lostLease, postpone, type StepResult, soonAgain } from './step.ts';

/** An install that takes longer than this has failed. Each host that is tried adds as much. */
const INSTALL_MAX_MS = 20 * MINUTE_MS;
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
        service.log.error({ err: error }, 'install could not be recorded');
        await postpone(service, operation).catch(() => undefined);
      }
    }),
  );
}

async function observeAll(
  service: Service,
  operations: readonly OperationRow[],
): Promise<Map<string, MachineState>> {
  try {
    const states = await service.compute.observe(operations.map((operation) => operation.server_id));
    return new Map(states.map((state) => [state.id, state]));
  } catch (error) {
    service.log.warn({ err: error }, 'compute driver could not be asked');
    return new Map();
  }
}

async function record(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (seen?.state === 'running') return await recordRunning(service, operation);
  if (seen?.state === 'stopped') await switchOn(service, operation.server_id);
  const result = next(service, operation, seen);
  const now = service.clock.now();
  const ours = await advanceOperation(service.db, {
    ...operation,
    step: result.step ?? 'observe',
    attempts: result.attempts ?? 0,
    due_at: new Date(now.getTime() + (result.inMs ?? 0)),
  });
  if (!ours) lostLease();
}

/** An install goes on only in a machine that is on. One that could not be switched on is looked at again soon. */
async function switchOn(service: Service, serverId: string): Promise<void> {
  try {
    await service.compute.power(serverId, 'on');
  } catch (error) {
    service.log.warn({ err: error }, 'machine could not be switched on');
  }
}

function next(service: Service, operation: OperationRow, seen: MachineState | undefined): StepResult {
  const allowedMs = INSTALL_MAX_MS * (operation.tried_hosts.length + 1);
  const tooLate = service.clock.now().getTime() - operation.created_at.getTime() > allowedMs;
  switch (seen?.state) {
    case 'installing':
    case 'stopped':
      return tooLate ? { step: 'leave_host' } : { inMs: OBSERVE_EVERY_MS };
    case 'absent':
      // The host lost it: make it again, on the same host the first times.
      return { step: tooLate ? 'leave_host' : 'ensure' };
    default:
      return operation.attempts >= SILENT_MAX ? { step: 'leave_host' } : soonAgain(service, operation);
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
