/**
 * Passwords: Argon2id on the thread pool. Two run at a time, because more would starve the pool's file and
 * DNS work. Two queues wait behind them and take turns: customers who are signed in or use a device that we
 * know, and all others. Each is bounded, because a flood of sign-ins must neither exhaust memory nor shut out
 * the customers.
 */

import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { fail } from './fail.ts';

/** How much work a password costs. A stored hash names its own cost. */
export interface PasswordCost {
  readonly memoryKib: number;
  readonly passes: number;
}

const COST: PasswordCost = { memoryKib: 32_768, passes: 2 };
const MAX_CONCURRENT = 2;
const TAG_BYTES = 32;
/** Make a hash that matches no password, so that an unknown email takes as long as a known one. */
const NO_SALT = Buffer.alloc(16);
const NO_TAG = Buffer.alloc(TAG_BYTES);

/** Whose password it is: `known` customers do not wait behind the others. */
export type PasswordLane = 'known' | 'others';
const LANES: readonly PasswordLane[] = ['known', 'others'];

/** Hashes and verifies passwords. One per process, so that the bound applies to the process. */
export class PasswordHasher {
  readonly #queueMax: number;
  readonly #cost: PasswordCost;
  readonly #waiting: Readonly<Record<PasswordLane, (() => void)[]>> = { known: [], others: [] };
  #running = 0;
  #lastLane: PasswordLane = 'others';

  constructor({ queueMax, cost = COST }: { queueMax: number; cost?: PasswordCost | undefined }) {
    this.#queueMax = queueMax;
    this.#cost = cost;
  }

  /**
   * Returns PHC text `$argon2id$v=19$m=…,t=…,p=1$salt$hash`. Fails with `maintenance` when the queue is full.
   */
  async hash(password: string, lane: PasswordLane = 'others'): Promise<string> {
    const salt = randomBytes(16);
    const tag = await this.#derive(password, salt, this.#cost, lane);
    return formatHash(this.#cost, salt, tag);
  }

  /** Whether the password is correct. An unknown user (null) costs the same and never verifies. */
  async verify(password: string, stored: string | null, lane: PasswordLane = 'others'): Promise<boolean> {
    const hash = stored ?? formatHash(this.#cost, NO_SALT, NO_TAG);
    const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([^$]+)\$([^$]+)$/.exec(hash);
    if (!match) throw new Error('stored password hash is malformed');
    const expected = Buffer.from(match[4] ?? '', 'base64');
    const cost = { memoryKib: Number(match[1]), passes: Number(match[2]) };
    const tag = await this.#derive(password, Buffer.from(match[3] ?? '', 'base64'), cost, lane);
    return timingSafeEqual(tag, expected) && stored !== null;
  }

  async #derive(password: string, nonce: Buffer, cost: PasswordCost, lane: PasswordLane): Promise<Buffer> {
    // NFC: a password typed on different keyboards is the same password.
    const message = Buffer.from(password.normalize('NFC'), 'utf8');
    const { memoryKib: memory, passes } = cost;
    const parameters = { message, nonce, parallelism: 1, tagLength: TAG_BYTES, memory, passes };
    await this.#takeTurn(lane);
    try {
      return await promisify(argon2)('argon2id', parameters);
    } finally {
      this.#endTurn();
    }
  }

  /** Waits in the lane's queue. Fails with `maintenance` when it is full. */
  async #takeTurn(lane: PasswordLane): Promise<void> {
    if (this.#running < MAX_CONCURRENT) {
      this.#running += 1;
      return;
    }
    const queue = this.#waiting[lane];
    if (queue.length >= this.#queueMax) fail('maintenance', { retry_after_s: 5 });
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  /** Hands the turn to the lanes in alternation. */
  #endTurn(): void {
    const order = this.#lastLane === 'known' ? LANES.toReversed() : LANES;
    for (const lane of order) {
      const next = this.#waiting[lane].shift();
      if (!next) continue;
      this.#lastLane = lane;
      next();
      return;
    }
    this.#running -= 1;
  }
}

function formatHash({ memoryKib, passes }: PasswordCost, salt: Buffer, tag: Buffer): string {
  const parameters = `m=${memoryKib},t=${passes},p=1`;
  return `$argon2id$v=19$${parameters}$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(tag)}`;
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
