/** Waiting with a limit. The timers do not keep the process alive. */

export class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  override readonly message = 'timed out waiting for a response';
}

/** Returns the promise's result, or throws an error (a TimeoutError by default) when it takes too long. */
export async function withTimeout<T>(
  promise: Promise<T>,
  timeoutMs: number,
  createError: () => Error = () => new TimeoutError(),
): Promise<T> {
  if (!(await settlesWithin(promise, timeoutMs))) throw createError();
  return await promise;
}

/** Whether the promise succeeds or fails in time. Never throws. */
export async function settlesWithin(promise: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), timeoutMs).unref();
  });
  try {
    return await Promise.race([settled, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
