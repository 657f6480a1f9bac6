/** Step `observe`: asks the driver about all first installs at once, and takes each to `running` when it is. */
import { MINUTE_MS } from '../../kernel/time.ts';
import type { MachineState } from '../../ports/compute.ts';
import type { OperationRow } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { completeOperation } from './complete-operation.ts';
import { inspectMachines, POLL_INTERVAL_MS } from './inspect-machines.ts';
import { setPower } from './power-steps.ts';
import { advance, operationLogFields, retryWithBackoff, type StepResult } from './step.ts';

/** An install that takes longer than this on one host has failed there; the simulated ones are shorter. */
export const INSTALL_TIMEOUT_MS = 20 * MINUTE_MS;
/** A host that is silent this often in a row (some minutes) is left. */
const SILENT_ATTEMPTS_MAX = 12;

export async function observeInstalls(service: Service, operations: OperationRow[]): Promise<void> {
  await inspectMachines(service, operations, handleInstallState);
}

async function handleInstallState(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (seen?.state === 'running') return await completeOperation(service, operation);
  // An install goes on only in a machine that is on. One that could not be switched on is looked at again soon.
  if (seen?.state === 'stopped') await setPower(service, operation, 'on');
  const result = nextInstallStep(service, operation, seen);
  await advance(service.db, service, operation, result);
  if (result.fault) {
    service.log.warn({ ...operationLogFields(operation), reason: result.fault }, 'install does not go on');
  }
}

function nextInstallStep(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): StepResult {
  const isTimedOut = service.clock.now().getTime() - operation.placed_at.getTime() > INSTALL_TIMEOUT_MS;
  const leaveHost = { step: 'leave_host', fault: 'the install took too long' } as const;
  switch (seen?.state) {
    case 'installing':
    case 'stopped':
      return isTimedOut ? leaveHost : { inMs: POLL_INTERVAL_MS };
    case 'absent':
      // The host lost it: make it again, on the same host while there is time.
      return isTimedOut ? leaveHost : { step: 'ensure', fault: 'the host lost the machine' };
    default:
      if (operation.attempts < SILENT_ATTEMPTS_MAX) return retryWithBackoff(service, operation);
      return { step: 'leave_host', fault: 'the host did not answer' };
  }
}
