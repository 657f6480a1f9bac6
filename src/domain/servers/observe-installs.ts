/** Step `observe`: checks all first installs with one driver call and completes those that run. */
import { MINUTE_MS } from '../../kernel/time.ts';
import type { MachineState } from '../../ports/compute.ts';
import type { OperationRow } from '../../store/servers/operations.ts';
import type { Service } from '../context.ts';
import { completeOperation } from './complete-operation.ts';
import { inspectMachines, POLL_INTERVAL_MS } from './inspect-machines.ts';
import { setPower } from './power-steps.ts';
import { advance, operationLogFields, retryWithBackoff, type StepResult } from './step.ts';

/** An install that takes longer than this has failed on its host. Simulated installs are shorter. */
export const INSTALL_TIMEOUT_MS = 20 * MINUTE_MS;
/** Consecutive attempts without an answer (some minutes) before leaving the host. */
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
  // An install only progresses in a machine that is on. If powering it on fails, the next poll retries.
  if (seen?.state === 'stopped') await setPower(service, operation, 'on');
  const result = nextInstallStep(service, operation, seen);
  await advance(service.db, service, operation, result);
  if (result.fault) {
    service.log.warn(
      { ...operationLogFields(operation), reason: result.fault },
      'install is not progressing',
    );
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
      // The host lost the machine: recreate it, on the same host while there is time.
      return isTimedOut ? leaveHost : { step: 'ensure', fault: 'the host lost the machine' };
    default:
      if (operation.attempts < SILENT_ATTEMPTS_MAX) return retryWithBackoff(service, operation);
      return { step: 'leave_host', fault: 'the host did not answer' };
  }
}
