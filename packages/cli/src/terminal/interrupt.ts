/**
 * Ctrl-C and SIGTERM. The first one ends what waits, and soon after all the rest; only a call that changes something is left a few
 * seconds for its answer, so that nobody has to guess what was done. The second one ends everything at once.
 */
import { type ExitName, Failure } from '../exit-codes.ts';

/** How long a command may take to say where it was interrupted. */
const LAST_WORD_MS = 500;
/** How long a call that changes something may still take. */
const ANSWER_MS = 5_000;
/** Whoever finds nobody at the address has sent nothing. */
const NOT_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);
const UNSURE = 'what was asked for may have been done all the same';

export class Interrupt {
  readonly #stop = new AbortController();
  readonly #late: Promise<never>;
  #endNow: (failure: Failure) => void = () => {};
  readonly #warn: (text: string) => void;
  readonly #leave: (exit: ExitName) => void;
  #onAnswer: () => void = () => {};
  #underWay = 0;
  #isLost = false;
  #unsure = UNSURE;
  /** What the command leaves with once `signal` is aborted. */
  exit: ExitName = 'interrupted';

  constructor(warn: (text: string) => void, leave: (exit: ExitName) => void) {
    this.#warn = warn;
    this.#leave = leave;
    this.#late = new Promise((_resolve, reject) => {
      this.#endNow = reject;
    });
    this.#late.catch(() => {});
  }

  listen(): this {
    process.on('SIGINT', () => this.#take('interrupted'));
    process.on('SIGTERM', () => this.#take('terminated'));
    return this;
  }

  /** Aborted by the first one. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Fails when the command has had its time to end by itself. */
  get late(): Promise<never> {
    return this.#late;
  }

  /** Whether something that changes was sent last, and has no answer. */
  get isUnanswered(): boolean {
    return this.#underWay > 0 || this.#isLost;
  }

  /** What is said when it ends like that. */
  get words(): string {
    return this.isUnanswered ? `stopped before the answer came; ${this.#unsure}` : 'stopped';
  }

  /** Says it in better words than those for all commands; null: in those again. */
  unsure(words: string | null): void {
    this.#unsure = words ?? UNSURE;
  }

  /** The global one, watched. */
  readonly fetch = async (request: Request): Promise<Response> => {
    if (request.method === 'GET') return await fetch(request);
    this.#underWay += 1;
    this.#isLost = false;
    try {
      const response = await fetch(request);
      // A fault may have come after the work was done; 503 is said before it is begun.
      this.#isLost = response.status >= 500 && response.status !== 503;
      return response;
    } catch (error) {
      this.#isLost = !NOT_SENT.has(codeOf(error));
      throw error;
    } finally {
      this.#underWay -= 1;
      this.#onAnswer();
    }
  };

  #take(exit: ExitName): void {
    if (this.signal.aborted) {
      if (this.isUnanswered) this.#warn(`skerry: ${this.words}`);
      this.#leave(this.exit);
      return;
    }
    this.exit = exit;
    const end = () => {
      this.#onAnswer = () => {};
      setTimeout(() => this.#endNow(new Failure(exit, this.words)), LAST_WORD_MS).unref();
    };
    const isAwaited = this.#underWay > 0;
    this.#stop.abort();
    if (!isAwaited) {
      end();
      return;
    }
    this.#warn('skerry: a moment, for the answer to what was sent; once more ends it at once');
    const timer = setTimeout(end, ANSWER_MS);
    this.#onAnswer = () => {
      clearTimeout(timer);
      end();
    };
  }
}

function codeOf(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } | null };
  return typeof cause?.code === 'string' ? cause.code : '';
}
