/**
 * SHA-512 crypt, the format of a guest's root password. One hash takes about 15 ms of CPU time, so a worker
 * thread computes them one at a time while requests continue. The queue is bounded, because a flood of
 * deploys must not exhaust memory. The thread starts on first use, restarts if it dies, and never keeps the
 * process alive.
 */
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { fail } from './fail.ts';
import { base32 } from './ids.ts';

const SCRIPT = new URL('./crypt-worker.ts', import.meta.url);
/** About four seconds of hashing. */
const QUEUE_MAX = 256;
const ATTEMPTS = 2;

interface Job {
  readonly password: string;
  readonly salt: string;
  readonly done: PromiseWithResolvers<string>;
  attempts: number;
}

export class CryptHasher {
  readonly #queueMax: number;
  readonly #script: URL;
  readonly #queue: Job[] = [];
  #current: Job | undefined;
  #worker: Worker | undefined;

  constructor(options: { queueMax: number; script?: URL }) {
    this.#queueMax = options.queueMax;
    this.#script = options.script ?? SCRIPT;
  }

  /**
   * Returns `$6$salt$hash`; the salt has up to 16 characters. Fails with `maintenance` when the queue is
   * full.
   */
  async hash(password: string, salt = base32(randomBytes(10))): Promise<string> {
    if (this.#queue.length >= this.#queueMax) fail('maintenance', { retry_after_s: 5 });
    const done = Promise.withResolvers<string>();
    this.#queue.push({ password, salt, done, attempts: 0 });
    this.#processNext();
    return await done.promise;
  }

  #processNext(): void {
    this.#current ??= this.#queue.shift();
    const job = this.#current;
    if (job === undefined) {
      this.#worker?.unref();
      return;
    }
    if (job.attempts > 0 && this.#worker) return;
    job.attempts += 1;
    this.#worker ??= this.#start();
    // Keep the process alive while a hash is pending.
    this.#worker.ref();
    this.#worker.postMessage({ password: job.password, salt: job.salt });
  }

  #start(): Worker {
    // Pass neither our flags nor our environment, which contains secrets.
    const worker = new Worker(this.#script, { execArgv: ['--disable-warning=ExperimentalWarning'], env: {} });
    worker.on('message', (hash: string) => {
      this.#current?.done.resolve(hash);
      this.#current = undefined;
      this.#processNext();
    });
    // Ignore the error: its message may contain the password. `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.#worker = undefined;
      if (this.#current && this.#current.attempts >= ATTEMPTS) {
        this.#current.done.reject(new Error('the password hashing thread exited'));
        this.#current = undefined;
      }
      this.#processNext();
    });
    return worker;
  }
}

/** One per process, so that the bound applies to the process. */
export const rootPasswordHasher = new CryptHasher({ queueMax: QUEUE_MAX });
