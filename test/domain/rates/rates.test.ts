import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Service } from '../../../src/domain/context.ts';
import { eurPerUsd, refreshEuro } from '../../../src/domain/rates/rates.ts';
import { createTopup } from '../../../src/domain/topups/create.ts';
import { offerTopup } from '../../../src/domain/topups/offer.ts';
import { EcbEuro } from '../../../src/drivers/rates/ecb.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import type { Logger } from '../../../src/kernel/logger.ts';
import type { Market } from '../../../src/kernel/market-rate.ts';
import { RateUnavailable } from '../../../src/ports/rates.ts';
import { readEurRate } from '../../../src/store/service/service.ts';
import { watchJob } from '../../../src/workers/watch.ts';
import { status, unresponsive } from '../../drivers/rates/stub-feeds.ts';
import type { ScriptedChain } from '../../support/scripted-chain.ts';
import type { TopupWorld } from '../../support/topup-world.ts';
import { MARKET, NEVER_ABORTED, RatesWorld } from './rates-world.ts';

let market: RatesWorld;
let world: TopupWorld;
before(async () => {
  market = await RatesWorld.start();
  world = market.topups;
});
after(() => market.close());
beforeEach(() => market.reset());

const UNKNOWN_ETH =
  'The exchange rate of ETH is not known yet. Try again in a minute, or choose another coin.';

async function noRate(coin: string, given?: Partial<Market>): Promise<string> {
  const error = await market
    .rates(given)
    .usdPerCoin(coin)
    .catch((reason: unknown) => reason);
  assert.ok(error instanceof RateUnavailable);
  return error.message;
}

const at = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

describe('a rate of the market', () => {
  it('a rate is the median of the sources and records all their prices', async () => {
    assert.deepEqual(await market.refresh(), [null, null, null, null]);
    const now = at(world.clock.now());
    assert.deepEqual(await market.rates().usdPerCoin('BTC'), {
      usd: '60007.611728394506',
      quotes: [
        { source: 'bitfinex', usd: '60000', at: now },
        { source: 'coinbase', usd: '60020.5', at: now },
        { source: 'coingecko', usd: '60005.123456789012', at: now },
        { source: 'kraken', usd: '60010.1', at: now },
      ],
    });
  });

  it('USDT has one rate on both of its chains', async () => {
    await market.refresh();
    const [one, other] = await Promise.all([
      market.rates().usdPerCoin('USDT'),
      market.rates().usdPerCoin('USDTTRC'),
    ]);
    assert.deepEqual(one, other);
    assert.equal(one.usd, '0.999975');
  });

  it('a quote has the time of its source, or else of the request', async () => {
    market.feeds.now = () => new Date(world.clock.now().getTime() - 40_000);
    await market.refresh('bitfinex', 'coinbase');
    market.feeds.now = () => world.clock.now();
    const { quotes } = await market.rates().usdPerCoin('BTC');
    const now = world.clock.now().getTime();
    assert.deepEqual(
      quotes.map((quote) => quote.at),
      [at(new Date(now)), at(new Date(now - 40_000))],
    );
  });

  it('a rate is shown before an invoice and stored with it', async () => {
    await market.refresh();
    const customer = await world.createCustomer();
    const order = { coin: 'BTC', amountCents: 10_000n } as const;
    const offered = await offerTopup(market.service(), customer, order);
    const topup = await createTopup(market.service(), customer, order);
    const { usd, quotes } = await market.rates().usdPerCoin('BTC');
    assert.equal(offered.coin?.rate_usd, usd);
    const stored = await world.reloadTopup(topup);
    assert.equal(stored.rate_usd, usd);
    assert.deepEqual(stored.quotes, quotes);
    assert.equal(stored.quotes.length, 4);
    // 100 dollars at 60007.61…: rounded up to a satoshi.
    assert.equal(stored.deposit_units, 166_646n);
  });

  it('a late payment stores the rate at its inclusion', async () => {
    await market.refresh();
    const topup = await createTopup(market.service(), await world.createCustomer(), {
      coin: 'BTC',
      amountCents: 10_000n,
    });
    world.clock.advanceMinutes(60 + 181);
    market.feeds.set('kraken', { XXBTZUSD: '59000.5' });
    await market.refresh('kraken', 'bitfinex');
    const chain = world.chains.get('BTC') as ScriptedChain;
    chain.pay(topup.deposit_address, 100_000n);
    chain.mine(6);
    const watch = watchJob(market.service(), { runWaitMaxMs: 10_000, retry: { firstMs: 1, maxMs: 20 } });
    while ((await watch.run()) > 0 || (await watch.busy()));
    const [deposit] = await world.deposits(topup);
    assert.equal(deposit?.rate_at_inclusion, '59500.25');
    const now = at(world.clock.now());
    assert.deepEqual(deposit?.quotes_at_inclusion, [
      { source: 'bitfinex', usd: '60000', at: now },
      { source: 'kraken', usd: '59000.5', at: now },
    ]);
    assert.equal(await world.balance(topup), 5_950n);
  });
});

describe('without a rate to rely on', () => {
  it('without a rate, the customer is asked to retry, and the operator sees why', async () => {
    const lines: { err?: Error; coin?: string }[] = [];
    const log = { warn: (line: object) => lines.push(line) } as unknown as Logger;
    const customer = await world.createCustomer();
    const refused = createTopup({ ...market.service(), log }, customer, {
      coin: 'ETH',
      amountCents: 10_000n,
    });
    await assert.rejects(
      refused,
      (error) => error instanceof Failure && error.code === 'unavailable' && error.message === UNKNOWN_ETH,
    );
    assert.equal(lines[0]?.coin, 'ETH');
    assert.equal(lines[0]?.err?.message, 'ETH: no prices from the last 300 s, 2 required');
    const offer = await offerTopup(market.service(), customer, { coin: 'ETH', amountCents: 10_000n });
    assert.equal(offer.coin_problem, UNKNOWN_ETH);
  });

  it('a coin has no rate until enough sources responded, and while their prices differ', async () => {
    const unpriced = async () => Object.fromEntries(await market.rates().findUnpriced(['BTC', 'USDTTRC']));
    assert.deepEqual(await unpriced(), { BTC: 'unknown', USDTTRC: 'unknown' });
    await market.refresh('kraken');
    assert.deepEqual(await unpriced(), { BTC: 'unknown', USDTTRC: 'unknown' });
    market.feeds.set('kraken', { XXBTZUSD: '70000' });
    await market.refresh('kraken', 'bitfinex');
    assert.deepEqual(await unpriced(), { BTC: 'disputed' });
  });

  it('outdated prices do not count', async () => {
    await market.refresh();
    world.clock.advanceMinutes(5);
    assert.equal((await market.rates().usdPerCoin('BTC')).quotes.length, 4);
    world.clock.advanceMinutes(0.01);
    assert.match(await noRate('BTC'), /^BTC: no prices from the last/);
    await market.refresh('kraken');
    assert.match(await noRate('BTC'), /^BTC: 1 price .*: kraken 60010\.1$/);
    await market.refresh('coingecko');
    assert.equal((await market.rates().usdPerCoin('BTC')).quotes.length, 2);
  });

  it('prices that are too far apart do not count', async () => {
    market.feeds.set('kraken', { XXBTZUSD: '63000' });
    await market.refresh('kraken', 'bitfinex');
    assert.match(
      await noRate('BTC'),
      /^BTC: prices differ by 4\.88%, above the limit of 3%: bitfinex 60000, kraken 63000$/,
    );
    const rules = { ...MARKET.rules, maxSpreadPercent: 5 };
    assert.equal((await market.rates({ rules }).usdPerCoin('BTC')).usd, '61500');
  });

  it('prices of a source that is no longer configured do not count', async () => {
    await market.refresh();
    assert.deepEqual(
      (await market.rates({ sources: ['kraken', 'bitfinex'] }).usdPerCoin('BTC')).quotes.length,
      2,
    );
    assert.match(await noRate('BTC', { sources: ['kraken'] }), /: kraken 60010\.1$/);
  });

  it('an unknown coin has no rate', async () => {
    assert.equal(await noRate('DOGE'), 'unknown coin');
    assert.equal(await noRate('toString'), 'unknown coin');
  });
});

describe('a source that is asked', () => {
  it('a failing source keeps its last prices and does not affect others', async () => {
    await market.refresh();
    world.clock.advanceMinutes(2);
    market.feeds.set('coingecko', { bitcoin: '60100' });
    market.feeds.overrides.kraken = status(503);
    assert.deepEqual(await market.refresh(), ['responded with HTTP 503', null, null, null]);
    const { quotes } = await market.rates().usdPerCoin('BTC');
    const [kraken, coingecko] = ['kraken', 'coingecko'].map((name) =>
      quotes.find(({ source }) => source === name),
    );
    assert.equal(kraken?.at, at(new Date(world.clock.now().getTime() - 120_000)));
    assert.deepEqual(coingecko, { source: 'coingecko', usd: '60100', at: at(world.clock.now()) });
  });

  it('a source without a price for one coin is reported with the coin', async () => {
    const { tLTCUSD, ...others } = market.feeds.prices.bitfinex;
    market.feeds.prices.bitfinex = others;
    assert.deepEqual(await market.refresh('bitfinex'), ['no price for LTC']);
    market.feeds.prices.bitfinex = { ...others, tLTCUSD: tLTCUSD ?? '' };
    assert.deepEqual(await market.refresh('bitfinex'), [null]);
  });

  it('a source with a clock ahead is ignored, unless by very little', async () => {
    market.feeds.now = () => new Date(world.clock.now().getTime() + 61_500);
    assert.deepEqual(await market.refresh('coinbase'), ['its clock is ahead of ours, or ours is behind']);
    assert.match(await noRate('BTC', { rules: { ...MARKET.rules, sourcesMin: 1 } }), /no price/);
    market.feeds.now = () => new Date(world.clock.now().getTime() + 30_000);
    assert.deepEqual(await market.refresh('coinbase'), [null]);
    market.feeds.now = () => world.clock.now();
    const { quotes } = await market.rates({ rules: { ...MARKET.rules, sourcesMin: 1 } }).usdPerCoin('BTC');
    assert.equal(quotes[0]?.at, at(world.clock.now()));
  });
});

describe('the euro', () => {
  it('the euro rate is the last one stored, so an order never waits', async () => {
    await world.db.run(
      `insert into service (mode, key_check) values ('live', 'none') on conflict do nothing`,
    );
    const live = { ...market.service(), settings: { ...world.service.settings, mode: 'live' } } as Service;
    market.feeds.euro = { day: '2026-11-20', usd: '1.0800' };
    assert.equal(
      await refreshEuro(world.service, new EcbEuro({ url: market.feeds.ecb }), NEVER_ABORTED),
      null,
    );
    assert.equal(await eurPerUsd(live), '0.925926');
    assert.equal(await market.rates().eurPerUsd(), '0.925926');
    market.feeds.overrides.ecb = unresponsive;
    const fault = await refreshEuro(
      world.service,
      new EcbEuro({ url: market.feeds.ecb, timeoutMs: 50 }),
      NEVER_ABORTED,
    );
    assert.equal(fault, 'request timed out');
    assert.equal(await eurPerUsd(live), '0.925926');
  });

  it('the euro rate is inverted to six digits, rounded half up', async () => {
    const turned = async (usd: string) => {
      market.feeds.euro = { day: '2026-11-20', usd };
      assert.equal(
        await refreshEuro(world.service, new EcbEuro({ url: market.feeds.ecb }), NEVER_ABORTED),
        null,
      );
      return await readEurRate(world.db);
    };
    assert.equal(await turned('1.25'), '0.8');
    assert.equal(await turned('1.0'), '1');
    assert.equal(await turned('1.5'), '0.666667');
    assert.equal(await turned('0.9'), '1.111111');
  });
});
