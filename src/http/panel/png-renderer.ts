/**
 * Renders SVG to PNG on a worker thread, one picture at a time: rendering takes some ten milliseconds of CPU
 * time, and requests continue meanwhile. Recent pictures are cached within bounds, and simultaneous requests
 * for one picture share a job. Queues are bounded, because a flood of requests must not grow memory. QR
 * codes, which payments wait for, go before charts, and each customer's waiting charts are limited.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { fail } from '../../kernel/fail.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { WorkerThread } from '../../kernel/worker-thread.ts';
import { lineChartSvg } from '../../panel/charts/chart.ts';
import type { LineChart } from '../../panel/charts/plot.ts';
import { qrCode } from '../../panel/money/qr.ts';

const WORKER_SCRIPT = new URL('./png-worker.ts', import.meta.url);
const DEFAULT_LIMITS = { pictures: 200, bytes: 16 * 1024 ** 2, waiting: 64, waitingOfOne: 16 } as const;

/** A thread that cannot start leaves its task waiting. */
const RENDER_MAX_MS = 10 * SECOND_MS;

/** Pixels per SVG unit: 2 for high-density screens. */
export type PngScale = 1 | 2;

export interface PngOptions {
  readonly scale?: PngScale;
  /** The owner of a chart, by customer id. Pictures without one go before charts. */
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
  /** Least recently used first. */
  readonly #cache = new Map<string, Buffer>();
  readonly #pendingJobs = new Map<string, RenderJob>();
  readonly #queues = { urgent: [] as RenderJob[], charts: [] as RenderJob[] };
  #cacheBytes = 0;
  readonly #thread = new WorkerThread<Pick<RenderJob, 'svg' | 'scale'>, Uint8Array<ArrayBuffer>>(
    WORKER_SCRIPT,
  );
  #isRendering = false;
  #renderedCount = 0;

  constructor(bounds: Partial<Record<keyof typeof DEFAULT_LIMITS, number>> = {}) {
    this.#bounds = { ...DEFAULT_LIMITS, ...bounds };
  }

  /** The number of cached pictures and bytes, and of pictures rendered so far. */
  get stats(): { readonly pictures: number; readonly bytes: number; readonly drawn: number } {
    return { pictures: this.#cache.size, bytes: this.#cacheBytes, drawn: this.#renderedCount };
  }

  /**
   * Fails with `maintenance` if the queue is full, and with `rate_limited` if this customer's share of it is.
   */
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
      fail('rate_limited', retry, 'Too many charts are loading. Wait and try again.');
    }
    if (queue.length >= this.#bounds.waiting) fail('maintenance', retry);
    this.#pendingJobs.set(job.key, job);
    queue.push(job);
    if (!this.#isRendering) void this.#renderAll();
    return job;
  }

  /** Renders what is queued. Never throws. */
  async #renderAll(): Promise<void> {
    this.#isRendering = true;
    for (let job = this.#nextJob(); job !== undefined; job = this.#nextJob()) {
      const { key, svg, scale, done } = job;
      try {
        const png = await this.#thread.run({ svg, scale }, { timeoutMs: RENDER_MAX_MS });
        done.resolve(this.#store(key, Buffer.from(png.buffer, png.byteOffset, png.byteLength)));
      } catch {
        done.reject(new Error('a picture could not be drawn'));
      }
      this.#pendingJobs.delete(key);
    }
    this.#isRendering = false;
  }

  #nextJob(): RenderJob | undefined {
    return this.#queues.urgent.shift() ?? this.#queues.charts.shift();
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

/** One per process, because its bounds are per process. */
export const pngRenderer = new PngRenderer();

const HEADERS = {
  'content-type': 'image/png',
  'content-security-policy': `default-src 'none'`,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, max-age=60',
};

/** Renders a chart for one customer. Customers do not wait for all charts of another. */
export async function chartPng(
  chart: LineChart,
  picture: PngOptions & { readonly customerId: string },
): Promise<Buffer> {
  return await pngRenderer.png(lineChartSvg(chart), picture);
}

/** Renders a QR code with sides of `qrCode(text).sidePx` pixels. It does not wait for charts. */
export async function qrPng(text: string): Promise<Buffer> {
  return await pngRenderer.png(qrCode(text).svg);
}

export interface Picture {
  readonly png: Buffer;
  /** False for a picture that must not outlive its page. */
  readonly kept?: boolean | undefined;
}

export function sendPng(reply: FastifyReply, { png, kept = true }: Picture): FastifyReply {
  const headers = kept ? HEADERS : { ...HEADERS, 'cache-control': 'no-store' };
  return reply.headers(headers).send(png);
}
