/** Gives up on an answer that does not come, so that others need not wait for it. Waiting keeps no process from ending. */
export async function inTime<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NotInTime()), timeoutMs).unref();
  });
  try {
    return await Promise.race([answer, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

export class NotInTime extends Error {
  override readonly name = 'NotInTime';
  override readonly message = 'no answer came in time';
}
