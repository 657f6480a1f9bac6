/**
 * Timeouts of the compute driver. A call that hangs would block its operation, the job, and shutdown. A
 * timeout counts as `transient` and the call may still take effect: steps are *ensure* and run again, and
 * drivers process the calls for one machine in order.
 */
import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';

export const ENSURE_TIMEOUT_MS = MINUTE_MS;
/** For every call except `ensure`. */
export const DRIVER_TIMEOUT_MS = 30 * SECOND_MS;

/** Returns the call's result, or throws a `transient` ComputeError after `ms` of real time. */
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
