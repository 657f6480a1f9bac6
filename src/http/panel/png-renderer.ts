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

const WORKER_SCRIPT = new URL('./png-worker.ts', import.meta.url);
const DEFAULT_LIMITS = { pictures: 200, bytes: 16 * 1024 ** 2, waiting: 64, waitingOfOne: 16 } as const;

/** Pixels for each that the SVG names: 2 for screens that have as many. */
export type PngScale = 1 | 2;

export interface PngOptions {
  readonly scale?: PngScale;
  /** Whose chart it is, by the customer's id; a picture of nobody passes before the charts. */
  readonly customerId?: string;
}

interface RenderJob {
  readonly key: string;
  readonly svg: string;
  readonly scale: PngScale;
  readonly customerId: string | undefined;
  readonly done: PromiseWithResolvers<Buffer>;
}

export class PngRenderer {
  readonly #bounds: Readonly<Record<keyof typeof DEFAULT_LIMITS, number>>;
  /** Used longest ago first. */
  readonly #cache = new Map<string, Buffer>();
  readonly #pendingJobs = new Map<string, RenderJob>();
  readonly #queues = { urgent: [] as RenderJob[], charts: [] as RenderJob[] };
  #cacheBytes = 0;
  #current: RenderJob | undefined;
  #worker: Worker | undefined;
  #renderedCount = 0;

  constructor(bounds: Partial<Record<keyof typeof DEFAULT_LIMITS, number>> = {}) {
    this.#bounds = { ...DEFAULT_LIMITS, ...bounds };
  }

  /** How many pictures and bytes are kept, and how many were drawn. */
  get stats(): { readonly pictures: number; readonly bytes: number; readonly drawn: number } {
    return { pictures: this.#cache.size, bytes: this.#cacheBytes, drawn: this.#renderedCount };
  }

  /** Refuses with `maintenance` when the queue is full, and with `rate_limited` when too many of it are of the same one. */
  async png(svg: string, { scale = 1, customerId }: PngOptions = {}): Promise<Buffer> {
    const key = createHash('sha256').update(`${scale} ${svg}`).digest('base64');
    const cached = this.#cache.get(key);
    if (cached !== undefined) {
      this.#cache.delete(key);
      this.#cache.set(key, cached);
      return cached;
    }
    const job =
      this.#pendingJobs.get(key) ??
      this.#enqueue({ key, svg, scale, customerId, done: Promise.withResolvers() });
    return await job.done.promise;
  }

  #enqueue(job: RenderJob): RenderJob {
    const { customerId: of } = job;
    const queue = of === undefined ? this.#queues.urgent : this.#queues.charts;
    const retry = { retry_after_s: 5 };
    if (
      of !== undefined &&
      queue.filter((each) => each.customerId === of).length >= this.#bounds.waitingOfOne
    ) {
      fail('rate_limited', retry, 'Too many charts of yours are being drawn; wait and try again.');
    }
    if (queue.length >= this.#bounds.waiting) fail('maintenance', retry);
    this.#pendingJobs.set(job.key, job);
    queue.push(job);
    if (this.#current === undefined) this.#runNext();
    return job;
  }

  #runNext(): void {
    this.#current = this.#queues.urgent.shift() ?? this.#queues.charts.shift();
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
    const worker = new Worker(WORKER_SCRIPT, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      env: {},
    });
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
      this.#pendingJobs.delete(job.key);
      if (png === null) job.done.reject(new Error('a picture could not be drawn'));
      else job.done.resolve(this.#store(job.key, Buffer.from(png.buffer, png.byteOffset, png.byteLength)));
    }
    this.#runNext();
  }

  #store(key: string, png: Buffer): Buffer {
    this.#renderedCount += 1;
    this.#cache.set(key, png);
    this.#cacheBytes += png.length;
    for (const [oldest, bytes] of this.#cache) {
      if (this.#cache.size <= this.#bounds.pictures && this.#cacheBytes <= this.#bounds.bytes) break;
      this.#cache.delete(oldest);
      this.#cacheBytes -= bytes.length;
    }
    return png;
  }
}

/** Of this process: its bounds are the process's bounds. */
export const pngRenderer = new PngRenderer();
