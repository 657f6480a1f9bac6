/** How a step asks the driver to act: only while the operation is its own, and with an end to its patience. */
import { ComputeError } from '../../ports/compute.ts';
import { holdsLease, type OperationRow } from '../../store/operations.ts';
import type { Service } from '../context.ts';
import { faultText, lostLease, shownOperation } from './step.ts';
import { answerWithin } from './within.ts';

/** Why the driver did not do it. */
export type Fault = Pick<ComputeError, 'fault' | 'message'>;

/**
 * Null once the driver has done it. The lease is asked for right before: a holder that overslept, or whose server is
 * being destroyed by now, must not make again what was removed, nor remove what its successor has made.
 */
export async function ask(
  service: Service,
  operation: OperationRow,
  act: { readonly ms: number; readonly call: () => Promise<unknown>; readonly failed: string },
): Promise<Fault | null> {
  if (!(await holdsLease(service.db, operation))) lostLease();
  try {
    await answerWithin(act.ms, act.call());
    return null;
  } catch (error) {
    service.log.warn({ err: error, ...shownOperation(operation) }, act.failed);
    return { fault: error instanceof ComputeError ? error.fault : 'transient', message: faultText(error) };
  }
}
