/**
 * Handles Ctrl-C and SIGTERM. The first signal stops waiting and soon ends the command; only a call that
 * changes something gets a few seconds to respond, so that its outcome is known. A second signal exits at
 * once.
 */
import { type ExitName, Failure } from '../exit-codes.ts';

/** Time for a command to report where it was interrupted. */
const GRACE_MS = 500;
/** Time for a call that changes something to respond. */
const RESPONSE_GRACE_MS = 5_000;
/** Errors of a connection that was never established: nothing was sent. */
const NOT_SENT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);
const UNKNOWN_OUTCOME = 'the request may have been carried out';

export class Interrupt {
  readonly #controller = new AbortController();
  readonly #graceExpired: Promise<never>;
  #failNow: (failure: Failure) => void = () => {};
  readonly #warn: (text: string) => void;
  readonly #exitProcess: (exit: ExitName) => void;
  #onResponse: () => void = () => {};
  #pendingCalls = 0;
  #isResponseLost = false;
  #unknownOutcomeText = UNKNOWN_OUTCOME;
  /** The exit code once `signal` is aborted. */
  exit: ExitName = 'interrupted';

  constructor(warn: (text: string) => void, leave: (exit: ExitName) => void) {
    this.#warn = warn;
    this.#exitProcess = leave;
    this.#graceExpired = new Promise((_resolve, reject) => {
      this.#failNow = reject;
    });
    this.#graceExpired.catch(() => {});
  }

  listen(): this {
    process.on('SIGINT', () => this.#handleSignal('interrupted'));
    process.on('SIGTERM', () => this.#handleSignal('terminated'));
    return this;
  }

  /** Aborted by the first signal. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects when the command did not end within its grace period. */
  get graceExpired(): Promise<never> {
    return this.#graceExpired;
  }

  /** Whether the latest call that changes something has no response. */
  get isOutcomeUnknown(): boolean {
    return this.#pendingCalls > 0 || this.#isResponseLost;
  }

  /** The message for an interrupted command. */
  get message(): string {
    if (!this.isOutcomeUnknown) return 'interrupted';
    return `interrupted before the service responded; ${this.#unknownOutcomeText}`;
  }

  /** Replaces the general message about an unknown outcome with a specific one; null restores it. */
  describeUnknownOutcome(words: string | null): void {
    this.#unknownOutcomeText = words ?? UNKNOWN_OUTCOME;
  }

  /** The global fetch, with pending calls counted. */
  readonly fetch = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') return await fetch(request);
    this.#pendingCalls += 1;
    this.#isResponseLost = false;
    try {
      const response = await fetch(request);
      // An error may occur after the work was done; 503 is returned before it starts.
      this.#isResponseLost = response.status >= 500 && response.status !== 503;
      return response;
    } catch (error) {
      this.#isResponseLost = !NOT_SENT_CODES.has(errorCode(error));
      throw error;
    } finally {
      this.#pendingCalls -= 1;
      this.#onResponse();
    }
  };

  #handleSignal(exit: ExitName): void {
    if (this.signal.aborted) {
      if (this.isOutcomeUnknown) this.#warn(`skerry: ${this.message}`);
      this.#exitProcess(this.exit);
      return;
    }
    this.exit = exit;
    const end = () => {
      this.#onResponse = () => {};
      setTimeout(() => this.#failNow(new Failure(exit, this.message)), GRACE_MS).unref();
    };
    const hasPendingCalls = this.#pendingCalls > 0;
    this.#controller.abort();
    if (!hasPendingCalls) {
      end();
      return;
    }
    this.#warn('skerry: waiting for the response to the last request; press Ctrl-C again to exit now');
    const timer = setTimeout(end, RESPONSE_GRACE_MS);
    this.#onResponse = () => {
      clearTimeout(timer);
      end();
    };
  }
}

function errorCode(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } | null };
  return typeof cause?.code === 'string' ? cause.code : '';
}
