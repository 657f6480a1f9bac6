import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { rateFindings } from '../../../src/domain/rates/findings.ts';
import type { Market } from '../../../src/kernel/market-rate.ts';
import type { CoinCode } from '../../../src/spec/coins.ts';
import type { TopupWorld } from '../../support/topup-world.ts';
import { COINS, MARKET, RatesWorld } from './rates-world.ts';

let market: RatesWorld;
let world: TopupWorld;
before(async () => {
  market = await RatesWorld.start();
  world = market.topups;
});
after(() => market.close());
beforeEach(() => market.reset());

describe('an operator', () => {
  const notes = async (coins: readonly CoinCode[] = COINS, given: Partial<Market> = {}) =>
    await rateFindings(world.service, {
      coins,
      market: { ...MARKET, ...given },
      fixedPrices: new Map(),
    });

  it('a fixed price is noted, because it does not follow the market', async () => {
    const fixedPrices = new Map([
      ['USDT', '1'],
      ['EUR', '1.08'],
    ] as const);
    const findings = await rateFindings(world.service, {
      coins: ['USDT', 'USDTTRC'],
      market: MARKET,
      fixedPrices,
    });
    const fixed = 'fixed by SKERRY_FIXED_RATES; it does not follow the market';
    assert.deepEqual(
      findings.map(({ level, message }) => `${level} ${message}`),
      [`note USDT: 1 ${fixed}`, `note EUR: 1.08 ${fixed}`],
    );
  });

  it('every price has one finding, shared by both USDT coins', async () => {
    await market.refresh();
    await world.db.run(
      `insert into quotes (coin, source, usd, quoted_at)
       values ('EUR', 'ecb', '1.08', '2030-04-30T00:00:00Z')`,
    );
    world.clock.advanceMinutes(0.5);
    const all = await notes();
    assert.deepEqual(
      all.map(({ level, subject, message }) => `${level} ${subject} ${message.split(':')[0]}`),
      ['BTC', 'XMR', 'ETH', 'USDT', 'LTC', 'EUR'].map((name) => `ok rates ${name}`),
    );
    assert.equal(
      all[0]?.message,
      'BTC: 60007.611728394506 from 4 of 4 sources, spread 0.04 %, newest 30 s old',
    );
    assert.equal(all[5]?.message, 'EUR: 1.08 US dollars as of 2030-04-30');
  });

  it('a silent source is noted with its last price while there is a rate', async () => {
    await market.refresh('bitfinex');
    const heard = world.clock.now().toISOString().slice(0, 19).replace('T', ' ');
    world.clock.advanceMinutes(6);
    await market.refresh('kraken', 'coingecko');
    const [note] = await notes(['XMR']);
    assert.equal(note?.level, 'note');
    assert.match(note?.message ?? '', /^XMR: 150\.255 from 2 of 3 sources, spread 0\.33 %, newest 0 s old; /);
    assert.ok(note?.message.endsWith(`; bitfinex last gave a price at ${heard} UTC`));
  });

  it('a coin without a rate is reported with the reason', async () => {
    await market.refresh('kraken');
    const [note, euro] = await notes(['LTC']);
    assert.equal(note?.level, 'fail');
    assert.match(note?.message ?? '', /^LTC: no rate: 1 price from the last 300 s, 2 required: kraken 80; /);
    assert.match(note?.message ?? '', /; bitfinex (has never given a price); coinbase \1; coingecko \1$/);
    assert.deepEqual([euro?.level, euro?.message.split(':')[0]], ['warn', 'EUR']);
  });

  it('settings that can never give a coin a rate are reported', async () => {
    const [note] = await notes(['TRX'], { sources: ['kraken', 'coinbase'] });
    assert.equal(note?.level, 'fail');
    assert.match(note?.message ?? '', /^TRX: no rate possible: .* requires 2 sources, .*: kraken$/);
  });

  it('an outdated euro rate is reported', async () => {
    await world.db.run(
      `insert into quotes (coin, source, usd, quoted_at)
       values ('EUR', 'ecb', '1.08', '2030-04-01T00:00:00Z')`,
    );
    const [note] = await notes([]);
    assert.equal(note?.level, 'warn');
    assert.match(note?.message ?? '', /SKERRY_EURO_URL returns nothing newer/);
  });
});
