import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { EcbEuro } from '../../src/drivers/rates/ecb.ts';
import { quoteFeeds } from '../../src/drivers/rates/feeds.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import type { QuoteFeed } from '../../src/ports/rates.ts';
import type { CoinCode } from '../../src/spec/coins.ts';
import type { QuoteSourceName } from '../../src/spec/quote-sources.ts';
import { listQuotes } from '../../src/store/quotes.ts';
import { readEurRate } from '../../src/store/service.ts';
import type { Duty } from '../../src/workers/duty.ts';
import { quotesDuty } from '../../src/workers/quotes.ts';
import { StubFeeds, silent, status, text } from '../drivers/rates/stub-feeds.ts';
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
  feeds.asked.length = 0;
});
afterEach(() => {
  for (const name of [...ALL, 'ecb'] as const) delete feeds.instead[name];
});

interface Started {
  readonly duty: Duty;
  /** What the log said: source, fault. */
  readonly lines: string[];
}

/** A process with the duty. `everyS` in place of the feeds' own pace. */
function start({ everyS, timeoutMs = 30_000 }: { everyS?: number; timeoutMs?: number } = {}): Started {
  const lines: string[] = [];
  const line = (level: string) => (entry: { source: string; fault?: string }) =>
    lines.push([level, entry.source, entry.fault].filter(Boolean).join(' '));
  const log = { warn: line('warn'), info: line('info') } as unknown as Logger;
  const asked = quoteFeeds(feeds.sources(...ALL), { timeoutMs, maxSpreadPercent: 3 }).map(
    (feed): QuoteFeed => ({
      source: feed.source,
      everyS: everyS ?? feed.everyS,
      read: (coins, signal) => feed.read(coins, signal),
    }),
  );
  const euro = new EcbEuro({ url: feeds.ecb, timeoutMs });
  return { duty: quotesDuty({ ...world.service, log }, { feeds: asked, euro }), lines };
}

async function kept(): Promise<string[]> {
  const rows = await listQuotes(world.db, ['BTC', 'USDT', 'EUR']);
  return rows.map(({ coin, source, usd }) => `${coin} ${source} ${usd}`);
}

function count(part: string): number {
  return feeds.asked.filter((path) => path.includes(part)).length;
}

test('every source is asked for what the service takes, and the euro with them', async () => {
  const { duty, lines } = start();
  assert.equal(await duty.run(), 0);
  assert.deepEqual(await kept(), [
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
  assert.ok(feeds.asked.includes('/kraken/0/public/Ticker?pair=XXBTZUSD,USDTZUSD'));
  assert.equal(await readEurRate(world.db), '0.925926');
  assert.deepEqual(lines, []);
  assert.equal(await duty.nextDue(), null);
  assert.equal(await duty.busy(), false);
});

test('each is asked at its own pace, however often the duty runs and in however many processes', async () => {
  const processes = [start(), start(), start()];
  await Promise.all(processes.map(({ duty }) => duty.run()));
  for (const { duty } of processes) await duty.run();
  assert.deepEqual(['kraken', 'bitfinex', 'BTC-USD', 'coingecko', 'ecb'].map(count), [1, 1, 1, 1, 1]);
  // A process of later finds what is due.
  await world.db.run(`update beats set due_at = now() - interval '1 s' where name = 'quotes kraken'`);
  await start().duty.run();
  assert.deepEqual(['kraken', 'bitfinex', 'ecb'].map(count), [2, 1, 1]);
});

test('what a source said is kept while another has not answered yet', async () => {
  feeds.instead.kraken = silent;
  const { duty, lines } = start({ timeoutMs: 60_000 });
  const running = duty.run();
  const deadline = Date.now() + 30_000;
  while ((await kept()).length < 7 && Date.now() < deadline) await pause(5);
  const rows = await kept();
  assert.equal(rows.length, 7, `those that answer are not kept within 30 s; so far: ${rows.join(', ')}`);
  assert.deepEqual(
    rows.filter((row) => row.includes('kraken')),
    [],
  );
  // And the service stops at once, though it waits for one.
  await duty.stop?.();
  await running;
  assert.deepEqual(lines, []);
});

test('a source that fails is said once, and once that it is well again', async () => {
  const { duty, lines } = start({ everyS: 0 });
  await duty.run();
  feeds.instead.bitfinex = status(503);
  for (let i = 0; i < 3; i++) await duty.run();
  assert.deepEqual(lines, ['warn bitfinex it answers 503']);
  feeds.instead.bitfinex = text('<html>');
  feeds.instead.coinbase = status(404);
  for (let i = 0; i < 3; i++) await duty.run();
  assert.deepEqual(lines.slice(1).sort(), [
    'warn bitfinex its answer is no JSON',
    'warn coinbase it answers 404',
  ]);
  delete feeds.instead.bitfinex;
  for (let i = 0; i < 2; i++) await duty.run();
  assert.deepEqual(lines.slice(3), ['info bitfinex']);
});

test('the euro is asked for again soon when it failed, and a few times a day when it did not', async () => {
  const dueInS = async () => {
    const row = await world.db.row<{ s: number }>(
      `select extract(epoch from due_at - clock_timestamp())::float8 as s from beats where name = 'euro'`,
    );
    return Math.round((row?.s ?? 0) / 60);
  };
  await world.db.run('update service set eur_per_usd = 0.9');
  feeds.instead.ecb = status(500);
  const { duty, lines } = start();
  await duty.run();
  assert.equal(await dueInS(), 15);
  assert.equal(await readEurRate(world.db), '0.9');
  assert.deepEqual(lines, ['warn ecb it answers 500']);
  delete feeds.instead.ecb;
  await world.db.run(`update beats set due_at = now() - interval '1 s' where name = 'euro'`);
  await start().duty.run();
  assert.equal(await dueInS(), 360);
  assert.equal(await readEurRate(world.db), '0.925926');
});

test('a database that is away for one of them fails the run, and none of the others', async () => {
  const db = Object.create(world.db, {
    transaction: { value: () => Promise.reject(new Error('away')) },
  }) as typeof world.db;
  const asked = quoteFeeds(feeds.sources('kraken'), { maxSpreadPercent: 3 });
  const euro = new EcbEuro({ url: feeds.ecb });
  await assert.rejects(quotesDuty({ ...world.service, db }, { feeds: asked, euro }).run(), /away/);
  assert.deepEqual(await kept(), ['BTC kraken 60010.1', 'USDT kraken 0.9999']);
});
