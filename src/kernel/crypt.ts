/**
 * SHA-512 crypt, the form in which a guest takes its root password. One hash is some 15 ms of plain computing, so it is
 * done on a thread, one at a time: requests go on meanwhile. A bounded queue, because a flood of deploys must not grow
 * memory. The thread is started when it is first needed, again should it die, and keeps no process from ending.
 */
import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { fail } from './fail.ts';
import { base32 } from './ids.ts';

const SCRIPT = new URL('./crypt-worker.ts', import.meta.url);
/** Some four seconds of hashing. */
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

  /** `$6$salt$hash`; the salt is up to 16 characters. Refuses with `maintenance` when the queue is full. */
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
    // Whoever waits for a hash gets it.
    this.#worker.ref();
    this.#worker.postMessage({ password: job.password, salt: job.salt });
  }

  #start(): Worker {
    // Neither our flags nor our environment, which holds secrets.
    const worker = new Worker(this.#script, { execArgv: ['--disable-warning=ExperimentalWarning'], env: {} });
    worker.on('message', (hash: string) => {
      this.#current?.done.resolve(hash);
      this.#current = undefined;
      this.#processNext();
    });
    // Its message is told nobody: it may repeat what was hashed. `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.#worker = undefined;
      if (this.#current && this.#current.attempts >= ATTEMPTS) {
        this.#current.done.reject(new Error('the thread that hashes root passwords ended'));
        this.#current = undefined;
      }
      this.#processNext();
    });
    return worker;
  }
}

/** Of this process: its bound is the process's bound. */
export const rootPasswordHasher = new CryptHasher({ queueMax: QUEUE_MAX });
