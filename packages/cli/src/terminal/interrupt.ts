/**
 * Ctrl-C and SIGTERM. The first one ends what waits, and soon after all the rest; only a call that changes something is left a few
 * seconds for its answer, so that nobody has to guess what was done. The second one ends everything at once.
 */
import { type ExitName, Failure } from '../exit-codes.ts';

/** How long a command may take to say where it was interrupted. */
const GRACE_MS = 500;
/** How long a call that changes something may still take. */
const RESPONSE_GRACE_MS = 5_000;
/** Whoever finds nobody at the address has sent nothing. */
const NOT_SENT_CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);
const UNKNOWN_OUTCOME = 'what was asked for may have been done all the same';

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
  /** What the command leaves with once `signal` is aborted. */
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

  /** Aborted by the first one. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Fails when the command has had its time to end by itself. */
  get graceExpired(): Promise<never> {
    return this.#graceExpired;
  }

  /** Whether something that changes was sent last, and has no answer. */
  get isOutcomeUnknown(): boolean {
    return this.#pendingCalls > 0 || this.#isResponseLost;
  }

  /** What is said when it ends like that. */
  get message(): string {
    return this.isOutcomeUnknown ? `stopped before the answer came; ${this.#unknownOutcomeText}` : 'stopped';
  }

  /** Says it in better words than those for all commands; null: in those again. */
  describeUnknownOutcome(words: string | null): void {
    this.#unknownOutcomeText = words ?? UNKNOWN_OUTCOME;
  }

  /** The global one, watched. */
  readonly fetch = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') return await fetch(request);
    this.#pendingCalls += 1;
    this.#isResponseLost = false;
    try {
      const response = await fetch(request);
      // A fault may have come after the work was done; 503 is said before it is begun.
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
    this.#warn('skerry: a moment, for the answer to what was sent; once more ends it at once');
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
