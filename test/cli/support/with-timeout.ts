/** Waits for a promise with a timeout. */
const TIMEOUT_MS = 60_000;

/** Rejects with the name of the missing event if it does not occur in time. */
export async function withTimeout<T>(
  promise: Promise<T>,
  subject: string,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const error = new Error(`timed out after ${timeoutMs / 1_000} s: ${subject}`);
  const timer = setTimeout(() => reject(error), timeoutMs);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
