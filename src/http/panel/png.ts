/**
 * Pictures from SVG. Drawing one and packing it is some ten milliseconds of plain computing, so it is done on a thread,
 * one at a time: requests go on meanwhile. What was drawn lately is kept, within bounds; what is asked for twice at once is
 * drawn once. The queues are bounded, because a flood of requests must not grow memory. QR codes, for which a payment waits,
 * pass before charts; and one customer has only so many charts waiting, or the others would find no place. The thread is started
 * when it is first needed, again should it die, and keeps no process from ending.
 */
import { createHash } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { fail } from '../../kernel/fail.ts';

const SCRIPT = new URL('./png-worker.ts', import.meta.url);
const BOUNDS = { pictures: 200, bytes: 16 * 1024 ** 2, waiting: 64, waitingOfOne: 16 } as const;

/** Pixels for each that the SVG names: 2 for screens that have as many. */
export type Scale = 1 | 2;

export interface Picture {
  readonly scale?: Scale;
  /** Whose chart it is, by the customer's id; a picture of nobody passes before the charts. */
  readonly of?: string;
}

interface Job {
  readonly key: string;
  readonly svg: string;
  readonly scale: Scale;
  readonly of: string | undefined;
  readonly done: PromiseWithResolvers<Buffer>;
}

export class Painter {
  readonly #bounds: Readonly<Record<keyof typeof BOUNDS, number>>;
  /** Used longest ago first. */
  readonly #kept = new Map<string, Buffer>();
  readonly #wanted = new Map<string, Job>();
  readonly #waiting = { urgent: [] as Job[], charts: [] as Job[] };
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

  /** Refuses with `maintenance` when the queue is full, and with `rate_limited` when too many of it are of the same one. */
  async png(svg: string, { scale = 1, of }: Picture = {}): Promise<Buffer> {
    const key = createHash('sha256').update(`${scale} ${svg}`).digest('base64');
    const kept = this.#kept.get(key);
    if (kept !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    const job =
      this.#wanted.get(key) ?? this.#enqueue({ key, svg, scale, of, done: Promise.withResolvers() });
    return await job.done.promise;
  }

  #enqueue(job: Job): Job {
    const { of } = job;
    const queue = of === undefined ? this.#waiting.urgent : this.#waiting.charts;
    const again = { retry_after_s: 5 };
    if (of !== undefined && queue.filter((each) => each.of === of).length >= this.#bounds.waitingOfOne) {
      fail('rate_limited', again, 'Too many charts of yours are being drawn; wait and try again.');
    }
    if (queue.length >= this.#bounds.waiting) fail('maintenance', again);
    this.#wanted.set(job.key, job);
    queue.push(job);
    if (this.#current === undefined) this.#goOn();
    return job;
  }

  #goOn(): void {
    this.#current = this.#waiting.urgent.shift() ?? this.#waiting.charts.shift();
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
