/** Work that starts what must not outlive it: a signal that would end this process ends the work first. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Then the process ends, by the signal that it was sent. */
export async function* stopOnSignal<T>(work: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T> {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    received = signal;
    controller.abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    yield* work(controller.signal);
  } catch (error) {
    if (received === undefined) throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    if (received !== undefined) process.kill(process.pid, received);
  }
}
