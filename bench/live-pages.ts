/**
 * Open pages in Chromium among a thousand streams: from a commit to the frame that shows it, and the cost of
 * the process.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { withTimeout } from '../src/kernel/timeout.ts';
import type { OpenDatabase } from '../src/store/db.ts';
import { notifyWorkers } from '../src/store/service/service.ts';
import { type Chromium, NO_CHROMIUM, openChromium } from '../test/support/chromium.ts';
import { insertEvents } from './deliver-fixture.ts';
import { CannotMeasure, type Figure, percentile } from './figure.ts';
import { measureIdleShare } from './live.ts';
import { startLive } from './live-fixture.ts';

const STREAMS = 1_000;
const PAGES = 8;
const ROUNDS = 12;
/** Longer than the pause that a page leaves between two fetches, and never the same. */
const ROUND_PAUSE_MS = 1_200;
const ROUND_MAX_MS = 10_000;

/** Waits for the frame after a part was replaced. Returns at once: `window.shown` is its time. */
const NEXT_FRAME = `void (window.shown = new Promise((done) =>
  document.addEventListener('part-replaced', () =>
    requestAnimationFrame(() => requestAnimationFrame(() => done(Date.now()))), { once: true })))`;

export async function benchLivePages(folder: string): Promise<Figure[]> {
  if (NO_CHROMIUM !== false) throw new CannotMeasure(NO_CHROMIUM);
  const live = await startLive(folder, STREAMS);
  const chromium = await openChromium();
  try {
    await live.open(live.cookies.slice(PAGES));
    const pages = await openPages(chromium, live.peer.url, live.cookies.slice(0, PAGES));
    const idleShare = await measureIdleShare(live.peer);
    const latencies = await measureFrames(live.db, live.customers.slice(0, PAGES), pages);
    return toFigures(latencies, idleShare);
  } finally {
    await chromium.close();
    await live.stop();
  }
}

async function openPages(chromium: Chromium, url: string, cookies: readonly string[]): Promise<Page[]> {
  const pages: Page[] = [];
  for (const value of cookies) {
    const page = await chromium.page();
    await page.context().addCookies([{ name: 'PHPSESSID', value, url }]);
    const opened = page.waitForResponse((response) => new URL(response.url()).pathname === '/live');
    await page.goto(`${url}/servers`);
    await opened;
    pages.push(page);
  }
  return pages;
}

/** Returns milliseconds from each commit to the frame in each page. */
async function measureFrames(
  db: OpenDatabase,
  customers: readonly string[],
  pages: readonly Page[],
): Promise<number[]> {
  const latencies: number[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    await pause(ROUND_PAUSE_MS + Math.random() * ROUND_PAUSE_MS);
    for (const page of pages) await page.evaluate(NEXT_FRAME);
    await db.transaction(async (tx) => {
      await tx.run(
        'update balances set balance_cents = balance_cents + 1 where customer_id = any($1::uuid[])',
        [customers],
      );
      await insertEvents(tx, customers, 1);
    });
    const committedAt = Date.now();
    await notifyWorkers(db);
    const shown = Promise.all(pages.map((page) => page.evaluate<number>('window.shown')));
    const times = await withTimeout(shown, ROUND_MAX_MS);
    // The first round is a warm-up.
    if (round > 0) latencies.push(...times.map((at) => at - committedAt));
  }
  return latencies;
}

function toFigures(latencies: readonly number[], idleShare: number): Figure[] {
  return [
    {
      name: `commit to frame, ${PAGES} of ${STREAMS} open pages, 95th percentile`,
      value: percentile(latencies, 0.95),
      unit: 'ms',
      limit: 1_000,
      goal: 750,
      bound: 'max',
    },
    {
      name: `CPU of the process for ${STREAMS} pages, ${PAGES} of them in Chromium`,
      value: idleShare,
      unit: '%',
      limit: 5,
      goal: 3,
      bound: 'max',
    },
  ];
}
