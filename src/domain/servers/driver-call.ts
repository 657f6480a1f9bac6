/** Calls the driver for a step: only while the operation's lease is held, and with a timeout. */
import { ComputeError } from '../../ports/compute.ts';
import { holdsOperationLease, type OperationRow } from '../../store/servers/operations.ts';
import type { Service } from '../context.ts';
import { withDriverTimeout } from './driver-timeout.ts';
import { describeFault, operationLogFields, throwLeaseLost } from './step.ts';

/** Why the driver failed. */
export type DriverFault = Pick<ComputeError, 'fault' | 'message'>;

/**
 * Returns null on success. Checks the lease right before the call: a worker that overslept, or whose server
 * is being destroyed, must not recreate a removed machine or remove its successor's.
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
