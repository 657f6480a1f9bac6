/**
 * SHA-512 crypt, the format of a guest's root password. One hash takes about 15 ms of CPU time, so a worker
 * thread computes them one at a time. The queue is bounded, because a flood of deploys must not exhaust
 * memory.
 */
import { randomBytes } from 'node:crypto';
import { fail } from '../fail.ts';
import { base32 } from '../ids.ts';
import { WorkerThread } from '../worker-thread.ts';

const SCRIPT = new URL('./crypt-worker.ts', import.meta.url);
/** About four seconds of hashing. */
const QUEUE_MAX = 256;

export class CryptHasher {
  readonly #queueMax: number;
  readonly #thread: WorkerThread<{ readonly password: string; readonly salt: string }, string>;
  #pendingCount = 0;

  constructor(options: { queueMax: number; script?: URL }) {
    this.#queueMax = options.queueMax;
    this.#thread = new WorkerThread(options.script ?? SCRIPT);
  }

  /** Returns `$6$salt$hash`; a salt has up to 16 characters. Fails with `maintenance` on a full queue. */
  async hash(password: string, salt = base32(randomBytes(10))): Promise<string> {
    // One is being hashed, the others wait.
    if (this.#pendingCount > this.#queueMax) fail('maintenance', { retry_after_s: 5 });
    this.#pendingCount += 1;
    try {
      // The second attempt is for a thread that died.
      return await this.#thread.run({ password, salt }).catch(() => this.#thread.run({ password, salt }));
    } finally {
      this.#pendingCount -= 1;
    }
  }
}

/** One per process, so that the bound applies to the process. */
export const rootPasswordHasher = new CryptHasher({ queueMax: QUEUE_MAX });
