/**
 * The memory of a page that is left open for a day: the updates of a day in a few minutes, and what the page
 * holds after a garbage collection early and late.
 */
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { parseId } from '../src/kernel/ids.ts';
import { startEmbedded } from '../src/store/embedded/index.ts';
import { notifyWorkers } from '../src/store/service/service.ts';
import { publicKey } from '../test/panel/support/estate.ts';
import { NO_CHROMIUM, openChromium } from '../test/support/chromium.ts';
import { createApiToken, V1Client } from '../test/support/v1-client.ts';
import { startWorld, type World } from '../test/support/world.ts';
import { CannotMeasure, type Figure } from './figure.ts';

/** Each is a few events, one fetch of the page, and the replacement of several parts. */
const UPDATES = 500;
const EVENTS_EACH = 20;
const EARLY = UPDATES / 10;
/** The pauses between fetches are that much shorter, so that a day fits into minutes. */
const HASTE = 100;
const UPDATE_MAX_MS = 15_000;

const SHORT_PAUSES = `{ const wait = window.setTimeout;
  window.setTimeout = (call, ms = 0, ...rest) => wait(call, ms / ${HASTE}, ...rest); }`;
const NEXT_UPDATE = `void (window.updated = new Promise((done) =>
  document.addEventListener('part-replaced', () => done(), { once: true })))`;

export async function benchLiveMemory(folder: string): Promise<Figure[]> {
  if (NO_CHROMIUM !== false) throw new CannotMeasure(NO_CHROMIUM);
  const database = await startEmbedded({ dataDir: join(folder, 'live-memory'), log: () => undefined });
  process.env.SKERRY_TEST_PG = JSON.stringify(database.connection);
  const world = await startWorld({ SKERRY_RATE_CAPACITY: '1000000' });
  const chromium = await openChromium();
  try {
    await using page = await chromium.page();
    await page.addInitScript(SHORT_PAUSES);
    const serverId = await openServer(world, page);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable');
    await update(world, page, serverId, 0, EARLY);
    const early = await measure(devtools);
    await update(world, page, serverId, EARLY, UPDATES);
    return toFigures(early, await measure(devtools));
  } finally {
    await chromium.close();
    await world.close();
    await database.stop();
  }
}

/** Opens the overview of a running server: charts, folds, copy buttons, and forms. */
async function openServer(world: World, page: Page): Promise<string> {
  const session = await world.customer(100);
  const api = V1Client.forUrl(world.url, await createApiToken(session));
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  const key = (await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(1, 'ada') })).body.id;
  const order = { plan: 's1', region: 'par', image, ssh_keys: [key], name: 'web' };
  const { id } = (await api.post('/servers', order)).body;
  await world.settle();
  await world.advance(3_600);
  await page.context().addCookies([{ name: 'PHPSESSID', value: session.cookie ?? '', url: world.url }]);
  const opened = page.waitForResponse((response) => new URL(response.url()).pathname === '/live');
  await page.goto(`${world.url}/servers/${id}`);
  await opened;
  return id;
}

/** Changes the server's name, which many parts show, in each update. */
async function update(world: World, page: Page, shownId: string, from: number, to: number): Promise<void> {
  const { db } = world.opened;
  const id = parseId('server', shownId);
  page.setDefaultTimeout(UPDATE_MAX_MS);
  for (let count = from; count < to; count++) {
    await page.evaluate(NEXT_UPDATE);
    await db.run(
      `with changed as (update servers set name = $2 where id = $1 returning customer_id)
       insert into events (id, customer_id, type, data, created_at)
       select new_id(now()), customer_id, 'server.running', $3, now()
         from changed, generate_series(1, ${EVENTS_EACH})`,
      [id, `web-${count}`, JSON.stringify({ server: { id: shownId } })],
    );
    await notifyWorkers(db);
    await page.evaluate('window.updated');
  }
}

interface Memory {
  readonly heapBytes: number;
  readonly nodes: number;
  readonly listeners: number;
}

async function measure(devtools: CDPSession): Promise<Memory> {
  // The second collection frees what finalizers of the first one released.
  for (let time = 0; time < 2; time++) await devtools.send('HeapProfiler.collectGarbage');
  const { metrics } = await devtools.send('Performance.getMetrics');
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return {
    heapBytes: value('JSHeapUsedSize'),
    nodes: value('Nodes'),
    listeners: value('JSEventListeners'),
  };
}

function toFigures(early: Memory, late: Memory): Figure[] {
  const updates = `${UPDATES * EVENTS_EACH} events`;
  const growth = (name: keyof Memory, noun: string): Figure => ({
    name: `${noun} of an open page after ${updates}, to a tenth of them`,
    value: late[name] / early[name],
    unit: 'x',
    limit: 1.25,
    goal: 1.1,
    bound: 'max',
  });
  return [growth('heapBytes', 'heap'), growth('nodes', 'nodes'), growth('listeners', 'listeners')];
}
