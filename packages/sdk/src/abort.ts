/** Abort signals, and a pause that they end. */

/**
 * Calls `callback` when the signal is aborted, until the returned function is called. All callbacks of a
 * signal share one listener: Node 20 warns of eleven, and a program may use one signal for its whole life.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const subscription = subscriptions.get(signal) ?? subscribe(signal);
  subscription.callbacks.add(callback);
  return () => {
    subscription.callbacks.delete(callback);
    if (subscription.callbacks.size > 0 || subscriptions.get(signal) !== subscription) return;
    signal.removeEventListener('abort', subscription.notify);
    subscriptions.delete(signal);
  };
}

interface Subscription {
  readonly callbacks: Set<() => void>;
  readonly notify: () => void;
}

const subscriptions = new WeakMap<AbortSignal, Subscription>();

function subscribe(signal: AbortSignal): Subscription {
  const callbacks = new Set<() => void>();
  const notify = () => {
    for (const call of callbacks) call();
  };
  const subscription = { callbacks, notify };
  subscriptions.set(signal, subscription);
  signal.addEventListener('abort', notify, { once: true });
  return subscription;
}

/** Resolves after that time; rejects with the signal's reason if it is aborted earlier. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      unsubscribe?.();
      resolve();
    }, ms);
    const unsubscribe =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
  });
}

/**
 * An abort signal for one request that follows the caller's signal. Unlike `AbortSignal.any`, it leaves
 * nothing behind on the caller's signal when the request is over.
 */
export class AttemptSignal {
  readonly #controller = new AbortController();
  readonly #unsubscribe: (() => void) | undefined;
  /** Keeps the request alive: once Node has collected it, aborting no longer stops the response. */
  request: Request | null = null;
  /** Whether it was aborted by a timeout. */
  timedOut = false;

  constructor(caller: AbortSignal | undefined) {
    if (caller?.aborted) this.#controller.abort(caller.reason);
    else if (caller) this.#unsubscribe = onAbort(caller, () => this.#controller.abort(caller.reason));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts if the promise has not settled in time; 0 means no timeout. */
  async withTimeout<T>(ms: number, promise: Promise<T>): Promise<T> {
    if (ms <= 0) return await promise;
    const timer = setTimeout(() => {
      this.timedOut = true;
      this.#controller.abort();
    }, ms);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Aborts the request if it is still running, and unsubscribes from the caller's signal. */
  dispose(): void {
    this.#unsubscribe?.();
    this.#controller.abort();
    this.request = null;
  }
}
