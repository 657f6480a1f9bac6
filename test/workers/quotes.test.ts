import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { EcbEuro } from '../../src/drivers/rates/ecb.ts';
import { quoteFeeds } from '../../src/drivers/rates/feeds.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { QuoteFeed } from '../../src/ports/rates.ts';
import type { CoinCode } from '../../src/spec/coins.ts';
import type { QuoteSourceName } from '../../src/spec/quote-sources.ts';
import { readEurRate } from '../../src/store/service/service.ts';
import { listQuotes } from '../../src/store/topups/quotes.ts';
import type { Job } from '../../src/workers/job.ts';
import { quotesJob } from '../../src/workers/quotes.ts';
import { StubFeeds, status, text, unresponsive } from '../drivers/rates/stub-feeds.ts';
import { ScriptedChain } from '../support/scripted-chain.ts';
import { TopupWorld } from '../support/topup-world.ts';

const ALL: readonly QuoteSourceName[] = ['kraken', 'bitfinex', 'coinbase', 'coingecko'];
const COINS: readonly CoinCode[] = ['BTC', 'USDTTRC'];

let world: TopupWorld;
let feeds: StubFeeds;
before(async () => {
  world = await TopupWorld.start({
    chains: ({ clock }) => new Map(COINS.map((coin) => [coin, new ScriptedChain(coin, clock)])),
  });
  await world.db.run(`insert into service (mode, key_check) values ('live', 'none') on conflict do nothing`);
  feeds = await StubFeeds.start();
  feeds.now = () => world.clock.now();
});
after(() => Promise.all([world.close(), feeds.close()]));
beforeEach(async () => {
  await world.db.run('delete from quotes');
  await world.db.run('delete from beats');
  feeds.requests.length = 0;
});
afterEach(() => {
  for (const name of [...ALL, 'ecb'] as const) delete feeds.overrides[name];
});

interface Started {
  readonly job: Job;
  /** Log lines: level, source, fault. */
  readonly lines: string[];
}

/** Starts a process with the job. `everyS` overrides the interval of the feeds. */
function start({ everyS, timeoutMs = 30_000 }: { everyS?: number; timeoutMs?: number } = {}): Started {
  const lines: string[] = [];
  const line = (level: string) => (entry: { source: string; fault?: string }) =>
    lines.push([level, entry.source, entry.fault].filter(Boolean).join(' '));
  const log = { warn: line('warn'), info: line('info') } as unknown as Logger;
  const pacedFeeds = quoteFeeds(feeds.sources(...ALL), { timeoutMs, maxSpreadPercent: 3 }).map(
    (feed): QuoteFeed => ({
      source: feed.source,
      intervalS: everyS ?? feed.intervalS,
      read: (coins, signal) => feed.read(coins, signal),
    }),
  );
  const euro = new EcbEuro({ url: feeds.ecb, timeoutMs });
  return { job: quotesJob({ ...world.service, log }, { feeds: pacedFeeds, euro }), lines };
}

async function storedQuotes(): Promise<string[]> {
  const rows = await listQuotes(world.db, ['BTC', 'USDT', 'EUR']);
  return rows.map(({ coin, source, usd }) => `${coin} ${source} ${usd}`);
}

function count(part: string): number {
  return feeds.requests.filter((path) => path.includes(part)).length;
}

test('every price source is queried for the accepted coins, and the euro source with them', async () => {
  const { job, lines } = start();
  assert.equal(await job.run(), 0);
  assert.deepEqual(await storedQuotes(), [
    'BTC bitfinex 60000',
    'BTC coinbase 60020.5',
    'BTC coingecko 60005.123456789012',
    'BTC kraken 60010.1',
    'EUR ecb 1.0800',
    'USDT bitfinex 1.0001',
    'USDT coinbase 1',
    'USDT coingecko 0.99995',
    'USDT kraken 0.9999',
  ]);
  assert.ok(feeds.requests.includes('/kraken/0/public/Ticker?pair=XXBTZUSD,USDTZUSD'));
  assert.equal(await readEurRate(world.db), '0.925926');
  assert.deepEqual(lines, []);
  assert.equal(await job.nextDue(), null);
  assert.equal(await job.busy(), false);
});

test('each price source is queried at its own interval across all runs and processes', async () => {
  const processes = [start(), start(), start()];
  await Promise.all(processes.map(({ job }) => job.run()));
  for (const { job } of processes) await job.run();
  assert.deepEqual(['kraken', 'bitfinex', 'BTC-USD', 'coingecko', 'ecb'].map(count), [1, 1, 1, 1, 1]);
  // A process that starts later runs what is due.
  await world.db.run(`update beats set due_at = now() - interval '1 s' where name = 'quotes kraken'`);
  await start().job.run();
  assert.deepEqual(['kraken', 'bitfinex', 'ecb'].map(count), [2, 1, 1]);
});

test('the prices of one source are stored while another has not answered', async () => {
  feeds.overrides.kraken = unresponsive;
  const { job, lines } = start({ timeoutMs: 60_000 });
  const running = job.run();
  const deadline = Date.now() + 30_000;
  while ((await storedQuotes()).length < 7 && Date.now() < deadline) await pause(5);
  const rows = await storedQuotes();
  assert.equal(rows.length, 7, `the other sources were not stored within 30 s: ${rows.join(', ')}`);
  assert.deepEqual(
    rows.filter((row) => row.includes('kraken')),
    [],
  );
  // The service stops at once, even while it waits for a source.
  await job.stop?.();
  await running;
  assert.deepEqual(lines, []);
});

test('a failing price source is logged once, and its recovery once', async () => {
  const { job, lines } = start({ everyS: 0 });
  await job.run();
  feeds.overrides.bitfinex = status(503);
  for (let i = 0; i < 3; i++) await job.run();
  assert.deepEqual(lines, ['warn bitfinex responded with HTTP 503']);
  feeds.overrides.bitfinex = text('<html>');
  feeds.overrides.coinbase = status(404);
  for (let i = 0; i < 3; i++) await job.run();
  assert.deepEqual(lines.slice(1).sort(), [
    'warn bitfinex response is not JSON',
    'warn coinbase responded with HTTP 404',
  ]);
  delete feeds.overrides.bitfinex;
  for (let i = 0; i < 2; i++) await job.run();
  assert.deepEqual(lines.slice(3), ['info bitfinex']);
});

test('the euro rate is retried soon after a failure, and refreshed a few times a day otherwise', async () => {
  const dueInMinutes = async () => {
    const row = await world.db.row<{ s: number }>(
      `select extract(epoch from due_at - clock_timestamp())::float8 as s from beats where name = 'euro'`,
    );
    return Math.round((row?.s ?? 0) / 60);
  };
  await world.db.run('update service set eur_per_usd = 0.9');
  feeds.overrides.ecb = status(500);
  const { job, lines } = start();
  await job.run();
  assert.equal(await dueInMinutes(), 15);
  assert.equal(await readEurRate(world.db), '0.9');
  assert.deepEqual(lines, ['warn ecb responded with HTTP 500']);
  delete feeds.overrides.ecb;
  await world.db.run(`update beats set due_at = now() - interval '1 s' where name = 'euro'`);
  await start().job.run();
  assert.equal(await dueInMinutes(), 360);
  assert.equal(await readEurRate(world.db), '0.925926');
});

test('a database fault of one price source fails the run but not the other sources', async () => {
  const db = Object.create(world.db, {
    transaction: { value: () => Promise.reject(new Error('away')) },
  }) as typeof world.db;
  const kraken = quoteFeeds(feeds.sources('kraken'), { maxSpreadPercent: 3 });
  const euro = new EcbEuro({ url: feeds.ecb });
  await assert.rejects(quotesJob({ ...world.service, db }, { feeds: kraken, euro }).run(), /away/);
  assert.deepEqual(await storedQuotes(), ['BTC kraken 60010.1', 'USDT kraken 0.9999']);
});
