/** What is waited for, with an end. */
const MOST_MS = 60_000;

/** Fails with what was waited for when it has not come by then. */
export async function within<T>(promise: Promise<T>, what: string, mostMs = MOST_MS): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not within ${mostMs / 1_000} s: ${what}`)), mostMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
