import { onAbort } from './on-abort.ts';

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
