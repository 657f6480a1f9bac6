/** Requests that are repeated, with the same key, until their outcome is known; and counts of the answers. */
import { setTimeout as pause } from 'node:timers/promises';
import { OUTCOME_UNKNOWN_MESSAGE } from '../../../src/spec/error-messages.ts';
import { withTimeout } from '../../cli/support/with-timeout.ts';
import type { Answer } from '../../support/answers.ts';
import type { Processes } from '../world/processes.ts';

/** Longer than a request may take: a wait for an idempotency key, and then a write. */
const ANSWER_TIMEOUT_MS = 60_000;
const DECIDED_WITHIN_MS = 120_000;
const RETRY_MS = 150;
/** Answers that are kept for the explanation of a problem. */
const KEPT_MAX = 5_000;

/** An answer that says what became of the request. */
export interface Definite extends Answer {
  /** Whether an earlier attempt may have made the change. */
  readonly mayBeRepeated: boolean;
}

export interface AskFigures {
  requests: number;
  acknowledged: number;
  refused: number;
  unavailable: number;
  unanswered: number;
  slowest: { readonly ms: number; readonly what: string };
}

export class Asker {
  readonly figures: AskFigures = {
    ...{
      requests: 0,
      acknowledged: 0,
      refused: 0,
      unavailable: 0,
      unanswered: 0,
      slowest: { ms: 0, what: '' },
    },
  };
  /** Answers that no fault excuses. */
  readonly unexpected: string[] = [];
  /** Requests without a definite answer in time. */
  readonly undecided: string[] = [];
  /** The newest answers, in their order. */
  readonly definite: string[] = [];
  readonly #processes: Processes;

  constructor(processes: Processes) {
    this.#processes = processes;
  }

  /** Returns null if the outcome stayed unknown, or the answer breaks the contract. */
  async ask(what: string, via: number, send: (url: string) => Promise<Answer>): Promise<Definite | null> {
    try {
      return await this.#repeat(what, via, send);
    } catch (error) {
      if (!isBroken(error)) throw error;
      this.unexpected.push(`${what}: ${error.message.slice(0, 300)}`);
      return null;
    }
  }

  /** At one process after another. */
  async #repeat(what: string, via: number, send: (url: string) => Promise<Answer>): Promise<Definite | null> {
    const until = performance.now() + DECIDED_WITHIN_MS;
    let mayBeRepeated = false;
    for (let attempt = 0; performance.now() < until; attempt++) {
      const answer = await this.#attempt(what, via + attempt, send);
      const isDefinite = answer !== null && answer.status < 500;
      if (isDefinite) {
        const isDone = answer.status < 400 && answer.body?.ok !== false;
        this.figures[isDone ? 'acknowledged' : 'refused'] += 1;
        this.definite.push(`${what}: ${answer.status}${mayBeRepeated ? ', may be repeated' : ''}`);
        if (this.definite.length > KEPT_MAX) this.definite.shift();
        return { ...answer, mayBeRepeated };
      }
      if (answer !== null && answer.status !== 503)
        this.unexpected.push(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
      mayBeRepeated ||= answer === null || answer.status !== 503 || isUnknown(answer);
      await pause(RETRY_MS);
    }
    this.undecided.push(what);
    return null;
  }

  async #attempt(what: string, via: number, send: (url: string) => Promise<Answer>): Promise<Answer | null> {
    const url = await this.#processes.url(via).catch(() => null);
    if (url === null) return null;
    const startedMs = performance.now();
    this.figures.requests += 1;
    try {
      const answer = await withTimeout(send(url), what, ANSWER_TIMEOUT_MS);
      if (answer.status === 503) this.figures.unavailable += 1;
      return answer;
    } catch (error) {
      if (isBroken(error)) throw error;
      this.figures.unanswered += 1;
      return null;
    } finally {
      const ms = Math.round(performance.now() - startedMs);
      if (ms > this.figures.slowest.ms) this.figures.slowest = { ms, what };
    }
  }
}

/** Whether an answer is not what the OpenAPI document says. */
function isBroken(error: unknown): error is Error {
  return error instanceof Error && error.name === 'AssertionError';
}

function isUnknown({ body }: Answer): boolean {
  return [body?.msg, body?.error?.message].includes(OUTCOME_UNKNOWN_MESSAGE);
}
