/**
 * Pictures from SVG. Drawing one and packing it is some ten milliseconds of plain computing, so it is done on a thread,
 * one at a time: requests go on meanwhile. What was drawn lately is kept, within bounds; what is asked for twice at once is
 * drawn once. The queue is bounded, because a flood of requests must not grow memory. The thread is started when it is
 * first needed, again should it die, and keeps no process from ending.
 */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { fail } from '../../kernel/fail.ts';

const SCRIPT = new URL('./png-worker.ts', import.meta.url);
const BOUNDS = { pictures: 200, bytes: 16 * 1024 ** 2, waiting: 64 } as const;

/** Pixels for each that the SVG names: 2 for screens that have as many. */
export type Scale = 1 | 2;

interface Job {
  readonly key: string;
  readonly svg: string;
  readonly scale: Scale;
  readonly done: PromiseWithResolvers<Buffer>;
}

export class Painter {
  readonly #bounds: { readonly pictures: number; readonly bytes: number; readonly waiting: number };
  /** Used longest ago first. */
  readonly #kept = new Map<string, Buffer>();
  readonly #wanted = new Map<string, Job>();
  readonly #waiting: Job[] = [];
  #keptBytes = 0;
  #current: Job | undefined;
  #worker: Worker | undefined;
  #drawn = 0;

  constructor(bounds: Partial<Record<keyof typeof BOUNDS, number>> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /** How many pictures and bytes are kept, and how many were drawn. */
  get figures(): { readonly pictures: number; readonly bytes: number; readonly drawn: number } {
    return { pictures: this.#kept.size, bytes: this.#keptBytes, drawn: this.#drawn };
  }

  /** Refuses with `maintenance` when the queue is full. */
  async png(svg: string, scale: Scale = 1): Promise<Buffer> {
    const key = createHash('sha256').update(`${scale} ${svg}`).digest('base64');
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    return await (this.#wanted.get(key) ?? this.#enqueue({ key, svg, scale, done: Promise.withResolvers() }))
      .done.promise;
  }

  #enqueue(job: Job): Job {
    if (this.#waiting.length >= this.#bounds.waiting) fail('maintenance', { retry_after_s: 5 });
    this.#wanted.set(job.key, job);
    this.#waiting.push(job);
    if (this.#current === undefined) this.#goOn();
    return job;
  }

  #goOn(): void {
    this.#current = this.#waiting.shift();
    if (this.#current === undefined) {
      this.#worker?.unref();
      return;
    }
    this.#worker ??= this.#start();
    // Whoever waits for a picture gets it.
    this.#worker.ref();
    this.#worker.postMessage({ svg: this.#current.svg, scale: this.#current.scale });
  }

  #start(): Worker {
    // Neither our flags nor our environment, which holds secrets.
    const worker = new Worker(SCRIPT, { execArgv: ['--disable-warning=ExperimentalWarning'], env: {} });
    worker.on('message', ({ png }: { png: Uint8Array | null }) => this.#finish(png));
    // Its message is told nobody: it may repeat what was to be drawn. `exit` follows.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      this.#worker = undefined;
      this.#finish(null);
    });
    return worker;
  }

  #finish(png: Uint8Array | null): void {
    const job = this.#current;
    if (job !== undefined) {
      this.#wanted.delete(job.key);
      if (png === null) job.done.reject(new Error('a picture could not be drawn'));
      else job.done.resolve(this.#keep(job.key, Buffer.from(png.buffer, png.byteOffset, png.byteLength)));
    }
    this.#goOn();
  }

  #keep(key: string, png: Buffer): Buffer {
    this.#drawn += 1;
    this.#kept.set(key, png);
    this.#keptBytes += png.length;
    for (const [oldest, bytes] of this.#kept) {
      if (this.#kept.size <= this.#bounds.pictures && this.#keptBytes <= this.#bounds.bytes) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= bytes.length;
    }
    return png;
  }
}

/** Of this process: its bounds are the process's bounds. */
export const painter = new Painter();
