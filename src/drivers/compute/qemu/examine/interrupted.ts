/** Work that starts what must not outlive it: a signal that would end this process ends the work first. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Then the process ends, by the signal that it was sent. */
export async function* untilInterrupted<T>(
  work: (signal: AbortSignal) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const stop = new AbortController();
  let sent: NodeJS.Signals | undefined;
  const end = (signal: NodeJS.Signals) => {
    sent = signal;
    stop.abort();
  };
  for (const signal of SIGNALS) process.on(signal, end);
  try {
    yield* work(stop.signal);
  } catch (error) {
    if (sent === undefined) throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    if (sent !== undefined) process.kill(process.pid, sent);
  }
}
