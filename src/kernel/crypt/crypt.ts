/**
 * SHA-512 crypt, the format of a guest's root password. One hash takes about 15 ms of CPU time, so a worker
 * thread computes them one at a time. The queue is bounded, because a flood of deploys must not exhaust
 * memory.
 */
import { randomBytes } from 'node:crypto';
import { fail } from '../fail.ts';
import { base32 } from '../ids.ts';
import { WorkerThread, WorkerTimeout } from '../worker-thread.ts';

const SCRIPT = new URL('./crypt-worker.ts', import.meta.url);
/** About four seconds of hashing. */
const QUEUE_MAX = 256;

/** Includes the wait for the whole queue. Two attempts take less than a request may. */
const RUN_MAX_MS = 6_000;

interface Task {
  readonly password: string;
  readonly salt: string;
}

export class CryptHasher {
  readonly #queueMax: number;
  readonly #thread: WorkerThread<Task, string>;
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
      return await this.#run({ password, salt }).catch(() => this.#run({ password, salt }));
    } catch (error) {
      if (error instanceof WorkerTimeout) fail('maintenance', { retry_after_s: 5 });
      throw error;
    } finally {
      this.#pendingCount -= 1;
    }
  }

  /** A thread that cannot start leaves its task in the queue. */
  async #run(task: Task): Promise<string> {
    return await this.#thread.run(task, { timeoutMs: RUN_MAX_MS });
  }
}

/** One per process, so that the bound applies to the process. */
export const rootPasswordHasher = new CryptHasher({ queueMax: QUEUE_MAX });
