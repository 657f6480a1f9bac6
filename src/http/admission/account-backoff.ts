/**
 * Delays per account: each wrong password or recovery code delays the next attempt on that account, from any
 * address, because guesses can come from many addresses. State is kept in this process's memory only, under a
 * keyed hash whose key is lost with the process. An unknown email address is delayed like any other.
 */

import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BACKOFF, backoffMs } from '../../kernel/backoff.ts';
import { BoundedMap } from '../../kernel/bounded-map.ts';
import { HOUR_MS } from '../../kernel/time.ts';

const ACCOUNTS_MAX = 50_000;
/** Typing errors are not delayed. */
const FREE_FAILURES = 4;

interface AccountFailures {
  readonly count: number;
  readonly lastMs: number;
}

export class AccountBackoff {
  readonly #enabled: boolean;
  readonly #now: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #key = randomBytes(32);
  readonly #failures = new BoundedMap<string, AccountFailures>(ACCOUNTS_MAX);

  constructor(options: { enabled: boolean; now?: () => number; pause?: (ms: number) => Promise<unknown> }) {
    this.#enabled = options.enabled;
    this.#now = options.now ?? Date.now;
    this.#pause = options.pause ?? ((ms) => sleep(ms));
  }

  /** Waits for the delay that the account's failed attempts of the last hour require. */
  async wait(account: string): Promise<void> {
    const recorded = this.#failures.get(this.#hashAccount(account));
    if (!recorded || this.#now() - recorded.lastMs > HOUR_MS || recorded.count < FREE_FAILURES) return;
    await this.#pause(backoffMs(BACKOFF.signIn, recorded.count - FREE_FAILURES + 1));
  }

  recordFailure(account: string): void {
    if (!this.#enabled) return;
    const hash = this.#hashAccount(account);
    const known = this.#failures.get(hash);
    const lastMs = this.#now();
    const count = known && lastMs - known.lastMs <= HOUR_MS ? known.count + 1 : 1;
    this.#failures.delete(hash);
    this.#failures.set(hash, { count, lastMs });
  }

  recordSuccess(account: string): void {
    this.#failures.delete(this.#hashAccount(account));
  }

  #hashAccount(account: string): string {
    return createHmac('sha256', this.#key).update(account.trim().toLowerCase()).digest('base64');
  }
}
