/** How a step asks the driver to act: only while the operation is its own, and with an end to its patience. */
import { ComputeError } from '../../ports/compute.ts';
import { holdsOperationLease, type OperationRow } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { withDriverTimeout } from './driver-timeout.ts';
import { describeFault, operationLogFields, throwLeaseLost } from './step.ts';

/** Why the driver did not do it. */
export type DriverFault = Pick<ComputeError, 'fault' | 'message'>;

/**
 * Null once the driver has done it. The lease is asked for right before: a holder that overslept, or whose server is
 * being destroyed by now, must not make again what was removed, nor remove what its successor has made.
 */
export async function callDriver(
  service: Service,
  operation: OperationRow,
  act: { readonly timeoutMs: number; readonly call: () => Promise<unknown>; readonly failureMessage: string },
): Promise<DriverFault | null> {
  if (!(await holdsOperationLease(service.db, operation))) throwLeaseLost();
  try {
    await withDriverTimeout(act.timeoutMs, act.call());
    return null;
  } catch (error) {
    service.log.warn({ err: error, ...operationLogFields(operation) }, act.failureMessage);
    return {
      fault: error instanceof ComputeError ? error.fault : 'transient',
      message: describeFault(error),
    };
  }
}
