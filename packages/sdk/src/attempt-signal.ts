import { onAbort } from './on-abort.ts';

/**
 * A signal of our own for one request, which follows the caller's. By hand and not by `AbortSignal.any`: nothing of a request that
 * is over stays behind on the caller's signal.
 */
export class AttemptSignal {
  readonly #controller = new AbortController();
  readonly #unsubscribe: (() => void) | undefined;
  /** Node keeps no hold of a request whose answer has begun; once that is collected, aborting it does nothing any more. */
  request: Request | null = null;
  /** Whether it was aborted because something took too long. */
  timedOut = false;

  constructor(caller: AbortSignal | undefined) {
    if (caller?.aborted) this.#controller.abort(caller.reason);
    else if (caller) this.#unsubscribe = onAbort(caller, () => this.#controller.abort(caller.reason));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts when the promise has not settled by then; 0 is for ever. */
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

  /** Aborts what is still under way, and lets go of the caller's signal. */
  dispose(): void {
    this.#unsubscribe?.();
    this.#controller.abort();
    this.request = null;
  }
}
