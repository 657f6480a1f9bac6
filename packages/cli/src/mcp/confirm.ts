/**
 * Calls that a person must confirm, for clients without forms: a first call returns a code, and a second one
 * repeats it. The code works once, only with the same arguments, and only for a few minutes.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { Arguments } from './contract.ts';

export const CONFIRM = 'confirm_code';
const VALID_MS = 5 * 60_000;
/** Bounds the memory of a client that never confirms. */
const PENDING_MAX = 100;

interface Pending {
  readonly digest: string;
  readonly question: string;
  readonly limits: Arguments;
  readonly expiresMs: number;
}

/** The first half of a call. `limits` are arguments that hold it to the price in the question. */
export interface Question {
  readonly tool: string;
  readonly given: Arguments;
  readonly question: string;
  readonly limits: Arguments;
}

export class Confirmations {
  readonly #pending = new Map<string, Pending>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs;
  }

  /** Returns the code for the second call. */
  request({ tool, given, question, limits }: Question): string {
    const [oldest] = this.#pending.keys();
    if (this.#pending.size >= PENDING_MAX && oldest !== undefined) this.#pending.delete(oldest);
    const code = randomName();
    const expiresMs = this.#nowMs() + VALID_MS;
    this.#pending.set(code, { digest: digestOf(tool, given), question, limits, expiresMs });
    return code;
  }

  /**
   * Uses up the code. Null: it is unknown, too old, or of another call. A wrong call uses it up too, so that
   * arguments cannot be tried.
   */
  redeem(code: unknown, tool: string, given: Arguments): Pick<Pending, 'question' | 'limits'> | null {
    const found = typeof code === 'string' ? this.#pending.get(code) : undefined;
    if (found === undefined) return null;
    this.#pending.delete(code as string);
    return found.expiresMs > this.#nowMs() && found.digest === digestOf(tool, given) ? found : null;
  }
}

function digestOf(tool: string, given: Arguments): string {
  return createHash('sha256')
    .update(`${tool}\n${stableJson(given)}`)
    .digest('hex');
}

/** JSON whose objects have their keys in order: the second call may send them in another one. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}

export function randomName(): string {
  return randomBytes(9).toString('base64url');
}
