import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configuredFeeds, configuredMarket } from '../../src/compose/drivers.ts';
import { createLiveParts } from '../../src/compose/live.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { eurPerUsd } from '../../src/domain/rates/rates.ts';
import { createTopup } from '../../src/domain/topups/create.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';
import { RateUnavailable } from '../../src/ports/rates.ts';
import { TopupWorld } from '../support/topup-world.ts';

const LIVE = {
  SKERRY_MODE: 'live',
  SKERRY_COMPUTE: 'qemu',
  DATABASE_URL: 'postgres://u:hunter2@db.example/skerry',
};

test('a live service polls four sources by default, and two of them must agree', () => {
  const config = loadConfig(LIVE);
  assert.deepEqual(configuredMarket(config), {
    sources: ['kraken', 'bitfinex', 'coinbase', 'coingecko'],
    rules: { maxAgeS: 300, sourcesMin: 2, maxSpreadPercent: 3 },
  });
  const { feeds, euro } = configuredFeeds(config);
  assert.deepEqual(
    feeds.map(({ source }) => source),
    ['kraken', 'bitfinex', 'coinbase', 'coingecko'],
  );
  assert.equal(euro?.source, 'ecb');
});

test('a live service with fixed rates polls no price source, and the euro only without a fixed rate', () => {
  const feedsOf = (rates: string) => configuredFeeds(loadConfig({ ...LIVE, SKERRY_FIXED_RATES: rates }));
  assert.deepEqual(feedsOf('BTC=60000,EUR=1.08'), { feeds: [], euro: null });
  const { feeds, euro } = feedsOf('BTC=60000');
  assert.deepEqual([feeds, euro?.source], [[], 'ecb']);
});

test('a live service with fixed rates needs no price source for an invoice', async () => {
  const world = await TopupWorld.start();
  try {
    const { service, db, clock } = world;
    const fixed = loadConfig({ ...LIVE, SKERRY_FIXED_RATES: 'BTC=50000.5, EUR=1.25' });
    const { rates } = createLiveParts(fixed, { db, clock, log: service.log }).drivers;
    const settings = { ...service.settings, mode: 'live' as const };
    const closed = { ...service, rates, settings };
    const actor = await world.createCustomer();
    const topup = await createTopup(closed, actor, { coin: 'BTC', amountCents: 500_005n });
    assert.deepEqual([topup.rate_usd, topup.deposit_units], ['50000.5', 10_000_000n]);
    const at = `${clock.now().toISOString().slice(0, 19)}Z`;
    const row = await db.row('select quotes from topups where id = $1', [topup.id]);
    assert.deepEqual(row, { quotes: [{ source: 'fixed', usd: '50000.5', at }] });
    assert.equal(await eurPerUsd(closed), '0.8');
    assert.deepEqual([...(await rates.findUnpriced(['BTC', 'ETH']))], [['ETH', 'unknown']]);
    await assert.rejects(rates.usdPerCoin('ETH'), RateUnavailable);
  } finally {
    await world.close();
  }
});

test('the service does not start if a rate needs more prices than there are sources', () => {
  const few = { ...LIVE, SKERRY_QUOTE_SOURCES: 'kraken', SKERRY_QUOTE_SOURCES_MIN: '2' };
  assert.throws(
    () => configuredMarket(loadConfig(few)),
    (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(
        error.message,
        /^SKERRY_QUOTE_SOURCES_MIN: a rate needs 2 prices, but SKERRY_QUOTE_SOURCES lists 1;/,
      );
      return true;
    },
  );
  assert.equal(configuredMarket(loadConfig({ ...few, SKERRY_QUOTE_SOURCES_MIN: '1' })).rules.sourcesMin, 1);
});

test('an invalid price setting is rejected by name, without its value', () => {
  for (const [name, value] of [
    ['SKERRY_QUOTE_SOURCES', 'kraken,hunter2'],
    ['SKERRY_QUOTE_SOURCES', 'kraken=https://user:hunter2@x.example'],
    ['SKERRY_QUOTE_SOURCES', 'kraken=http://hunter2.example'],
    ['SKERRY_EURO_URL', 'http://hunter2.example/euro.xml'],
    ['SKERRY_QUOTE_MAX_AGE_S', '59'],
    ['SKERRY_QUOTE_MAX_SPREAD_PERCENT', '0'],
    ['SKERRY_QUOTE_SOURCES_MIN', '0'],
  ] as const) {
    assert.throws(
      () => loadConfig({ ...LIVE, [name]: value }),
      (error) => {
        assert.ok(error instanceof ConfigError);
        assert.ok(error.message.startsWith(`${name}: `), error.message);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
  }
});
