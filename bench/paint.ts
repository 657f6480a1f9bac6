/**
 * First paint and layout shifts of the main pages in Chromium, over a throttled connection and CPU: the
 * settings of Lighthouse's "slow 4G". Each page opens with an empty cache and again with a full one, at the
 * width of a desktop and of a phone. CDP delays each request by one round trip, and does not delay
 * handshakes: the goal leaves the time for those of TCP and TLS 1.3.
 */
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { type Example, examplesOf } from '../test/panel/support/examples.ts';
import { type PanelWorld, startPanelWorld } from '../test/panel/support/world.ts';
import { type Chromium, NO_CHROMIUM, openChromium } from '../test/support/chromium.ts';
import { CannotMeasure, type Figure, median } from './figure.ts';

const PAGES = [
  'home',
  'sign-in',
  'servers',
  'server-running',
  'deploy',
  'billing',
  'topup-waiting',
  'firewall-group',
  'status',
  'docs',
];
const WIDTHS = [1280, 390];
const ROUNDS = 3;
const LATENCY_MS = 150;
const BYTES_PER_S = 1_600_000 / 8;
const CPU_SLOWDOWN = 4;
/** Scripts and late images could still move the page in this time. */
const SETTLE_MS = 600;
const LIMIT_MS = 1_000;
const HANDSHAKES_MS = 2 * LATENCY_MS;

/** One opening of a page. */
interface Paint {
  readonly fcpMs: number;
  readonly lcpMs: number;
  readonly shift: number;
  readonly bytes: number;
}

interface Row extends Paint {
  readonly name: string;
  readonly width: number;
  readonly cache: 'empty' | 'full';
}

export async function benchPaint(folder: string): Promise<Figure[]> {
  if (NO_CHROMIUM) throw new CannotMeasure(NO_CHROMIUM);
  const database = await startEmbedded({ dataDir: join(folder, 'paint'), log: () => undefined });
  process.env.SKERRY_TEST_PG = JSON.stringify(database.connection);
  try {
    const world = await startPanelWorld();
    const chromium = await openChromium();
    try {
      const rows = await measurePages(world, chromium);
      process.stderr.write(formatTable(rows));
      return toFigures(rows);
    } finally {
      await chromium.close();
      await world.close();
    }
  } finally {
    await database.stop();
  }
}

async function measurePages(world: PanelWorld, chromium: Chromium): Promise<Row[]> {
  const examples = examplesOf(world);
  const rows: Row[] = [];
  for (const name of PAGES) {
    const example = examples.find((one) => one.name === name);
    if (!example) throw new Error(`no page ${name}`);
    for (const width of WIDTHS) {
      const [empty, full]: [Paint[], Paint[]] = [[], []];
      for (let round = 0; round < ROUNDS; round++) {
        const page = await openThrottled(world, chromium, example, width);
        empty.push(await measure(page, `${world.url}${example.path}`));
        full.push(await measure(page, `${world.url}${example.path}`));
        await page.close();
      }
      rows.push({ name, width, cache: 'empty', ...summarize(empty) });
      rows.push({ name, width, cache: 'full', ...summarize(full) });
    }
  }
  return rows;
}

/** A tab of a browser that has never visited the service. */
async function openThrottled(
  { url, session }: PanelWorld,
  chromium: Chromium,
  { visitor }: Example,
  width: number,
): Promise<Page> {
  const page = await chromium.page({ viewport: { width, height: 800 } });
  if (!visitor) await page.context().addCookies([{ name: 'PHPSESSID', value: session.cookie ?? '', url }]);
  const cdp: CDPSession = await page.context().newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: LATENCY_MS,
    downloadThroughput: BYTES_PER_S,
    uploadThroughput: BYTES_PER_S,
  });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: CPU_SLOWDOWN });
  return page;
}

async function measure(page: Page, url: string): Promise<Paint> {
  // A page of the same address would be a reload, which asks again for what is cached.
  await page.goto('about:blank');
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForTimeout(SETTLE_MS);
  return await page.evaluate<Paint>(READ_PAINT);
}

/** Runs in the page. */
const READ_PAINT = `(async () => {
  const entries = (type) => new Promise((resolve) => {
    new PerformanceObserver((list) => resolve(list.getEntries())).observe({ type, buffered: true });
    setTimeout(resolve, 200, []);
  });
  const paints = await entries('paint');
  const largest = await entries('largest-contentful-paint');
  const shifts = (await entries('layout-shift')).filter((shift) => !shift.hadRecentInput);
  const loads = ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type));
  return {
    fcpMs: paints.find(({ name }) => name === 'first-contentful-paint').startTime,
    lcpMs: largest.at(-1)?.startTime ?? NaN,
    shift: shifts.reduce((sum, { value }) => sum + value, 0),
    bytes: loads.reduce((sum, { transferSize }) => sum + transferSize, 0),
  };
})()`;

/** The fastest round, because other programs can only slow one down. Shifts may happen in none. */
function summarize(paints: readonly Paint[]): Paint {
  return {
    fcpMs: Math.min(...paints.map(({ fcpMs }) => fcpMs)),
    lcpMs: Math.min(...paints.map(({ lcpMs }) => lcpMs)),
    shift: Math.max(...paints.map(({ shift }) => shift)),
    bytes: median(paints.map(({ bytes }) => bytes)),
  };
}

function formatTable(rows: readonly Row[]): string {
  const lines = rows.map(({ name, width, cache, fcpMs, lcpMs, shift, bytes }) =>
    [
      name.padEnd(16),
      String(width).padStart(5),
      cache.padEnd(5),
      `${fcpMs.toFixed(0)} ms`.padStart(12),
      `${lcpMs.toFixed(0)} ms`.padStart(13),
      shift.toFixed(4).padStart(6),
      `${(bytes / 1_000).toFixed(1)} kB`.padStart(11),
    ].join('  '),
  );
  const head = 'page              width  cache   first paint  largest paint   shift  transferred';
  return `${[head, ...lines].join('\n')}\n`;
}

const NONE = { limit: 0, goal: 0, bound: 'max' } as const;

function toFigures(rows: readonly Row[]): Figure[] {
  const slowest = (some: readonly Row[]) => Math.max(...some.map(({ fcpMs }) => fcpMs));
  const paint = (name: string, value: number): Figure => ({
    ...{ name: `first paint: ${name}`, value, unit: 'ms', bound: 'max' },
    ...{ limit: LIMIT_MS, goal: LIMIT_MS - HANDSHAKES_MS },
  });
  const empty = rows.filter(({ cache }) => cache === 'empty');
  const shift = Math.max(...rows.map((row) => row.shift));
  return [
    ...PAGES.map((page) => paint(`${page}, empty cache`, slowest(empty.filter(({ name }) => name === page)))),
    paint('slowest page, full cache', slowest(rows.filter(({ cache }) => cache === 'full'))),
    { name: 'thousandths of layout shift, all pages', value: shift * 1_000, unit: '', ...NONE },
  ];
}
