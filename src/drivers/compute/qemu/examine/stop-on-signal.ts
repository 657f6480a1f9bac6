/** Runs work whose child resources must not outlive it: a signal first stops the work, then this process. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Aborts the work on a signal, waits for its cleanup, and then re-sends the signal to this process. */
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
