/**
 * Passwords: Argon2id on the thread pool. Two run at a time, because more would starve the pool's file and
 * DNS work. The queue behind them is bounded, because a flood of sign-ins must not exhaust memory.
 */

import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import pLimit from 'p-limit';
import { fail } from './fail.ts';

const MEMORY_KIB = 32_768;
const PASSES = 2;
const MAX_CONCURRENT = 2;
const TAG_BYTES = 32;

/** Hashes and verifies passwords. One per process, so that the bound applies to the process. */
export class PasswordHasher {
  readonly #queueMax: number;
  readonly #limit = pLimit(MAX_CONCURRENT);

  constructor(options: { queueMax: number }) {
    this.#queueMax = options.queueMax;
  }

  /**
   * Returns PHC text `$argon2id$v=19$m=…,t=…,p=1$salt$hash`. Fails with `maintenance` when the queue is full.
   */
  async hash(password: string): Promise<string> {
    const salt = randomBytes(16);
    const tag = await this.#derive(password, salt, MEMORY_KIB, PASSES);
    return formatHash(salt, tag);
  }

  /** Whether the password is correct. An unknown user (null) costs the same and never verifies. */
  async verify(password: string, stored: string | null): Promise<boolean> {
    const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([^$]+)\$([^$]+)$/.exec(stored ?? DUMMY_HASH);
    if (!match) throw new Error('stored password hash is malformed');
    const expected = Buffer.from(match[4] ?? '', 'base64');
    const tag = await this.#derive(
      password,
      Buffer.from(match[3] ?? '', 'base64'),
      Number(match[1]),
      Number(match[2]),
    );
    return timingSafeEqual(tag, expected) && stored !== null;
  }

  async #derive(password: string, nonce: Buffer, memory: number, passes: number): Promise<Buffer> {
    const { activeCount, pendingCount } = this.#limit;
    if (activeCount + pendingCount >= MAX_CONCURRENT + this.#queueMax) {
      fail('maintenance', { retry_after_s: 5 });
    }
    // NFC: a password typed on different keyboards is the same password.
    const message = Buffer.from(password.normalize('NFC'), 'utf8');
    const parameters = { message, nonce, parallelism: 1, tagLength: TAG_BYTES, memory, passes };
    return await this.#limit(() => promisify(argon2)('argon2id', parameters));
  }
}

function formatHash(salt: Buffer, tag: Buffer): string {
  const parameters = `m=${MEMORY_KIB},t=${PASSES},p=1`;
  return `$argon2id$v=19$${parameters}$${toUnpaddedBase64(salt)}$${toUnpaddedBase64(tag)}`;
}

function toUnpaddedBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/**
 * A hash that matches no password, at the current cost, so that an unknown email takes as long as a known
 * one.
 */
const DUMMY_HASH = formatHash(Buffer.alloc(16), Buffer.alloc(TAG_BYTES));
