/** What is waited for, with an end. */
const TIMEOUT_MS = 60_000;

/** Fails with what was waited for when it has not come by then. */
export async function withTimeout<T>(
  promise: Promise<T>,
  subject: string,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`not within ${timeoutMs / 1_000} s: ${subject}`)),
    timeoutMs,
  );
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
