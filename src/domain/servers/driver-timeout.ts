/**
 * How long the compute driver may take to answer. One that hangs would hold its operation, the duty and the end of
 * the process. A call that ran out of time counts as `transient`, and may still have its effect: the step says
 * *ensure* and runs again, and drivers carry out the calls for one machine in the order they came.
 */
import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';

export const ENSURE_TIMEOUT_MS = MINUTE_MS;
/** For every verb but `ensure`. */
export const DRIVER_TIMEOUT_MS = 30 * SECOND_MS;

/** What the call answers, or a `transient` ComputeError when it has not answered after `ms` of real time. */
export async function withDriverTimeout<T>(ms: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ComputeError('transient', `no answer within ${ms / SECOND_MS} s`));
    }, ms);
    timer.unref();
  });
  try {
    return await Promise.race([call, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
