import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configuredFeeds, configuredMarket } from '../../src/compose/drivers.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { OperatorError } from '../../src/kernel/operator-error.ts';

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
  assert.equal(euro.source, 'ecb');
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
