import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { FixedRates } from '../../../src/drivers/rates/fixed.ts';
import { SandboxInputError } from '../../../src/drivers/sandbox-input-error.ts';
import { COIN_CODES } from '../../../src/spec/coins.ts';
import { type SimnetWorld, simnetWorld } from '../chain/simnet/simnet-world.ts';

let world: SimnetWorld;
before(async () => {
  world = await simnetWorld();
});
after(() => world.close());

test('every coin has a fixed sandbox rate', async () => {
  const rates = new FixedRates({ db: world.db, clock: world.clock });
  const all = await Promise.all(COIN_CODES.map(async (coin) => [coin, (await rates.usdPerCoin(coin)).usd]));
  assert.deepEqual(Object.fromEntries(all), {
    BTC: '60000',
    XMR: '150',
    ETH: '3000',
    USDT: '1',
    USDTTRC: '1',
    LTC: '80',
    TRX: '0.12',
    SOL: '150',
  });
  assert.equal(await rates.eurPerUsd(), '0.92');
  await assert.rejects(rates.usdPerCoin('DOGE'));
});

test('a rate set in one process applies in all of them, to the last digit', async () => {
  await new FixedRates({ db: world.db, clock: world.clock }).set('TRX', '0.123456789012');
  assert.equal(
    (await new FixedRates({ db: world.db, clock: world.clock }).usdPerCoin('TRX')).usd,
    '0.123456789012',
  );
  await new FixedRates({ db: world.db, clock: world.clock }).set('TRX', '0.2');
  assert.equal((await new FixedRates({ db: world.db, clock: world.clock }).usdPerCoin('TRX')).usd, '0.2');
});

test('an invalid rate is rejected', async () => {
  const rates = new FixedRates({ db: world.db, clock: world.clock });
  for (const usd of ['0', '-1', '', 'NaN', '1e5', '0.0000000000001', '1000000000', '1,5']) {
    await assert.rejects(
      rates.set('BTC', usd),
      (error) => error instanceof SandboxInputError && error.field === 'usd',
    );
  }
  await assert.rejects(
    rates.set('DOGE', '1'),
    (error) => error instanceof SandboxInputError && error.field === 'coin',
  );
  assert.equal((await rates.usdPerCoin('BTC')).usd, '60000');
});

test('an armed fault makes the rates fail', async () => {
  const rates = new FixedRates({
    db: world.db,
    clock: world.clock,
    faults: { consume: async (driver) => driver === 'rates' },
  });
  await assert.rejects(rates.usdPerCoin('BTC'), { message: 'simulated fault' });
  await assert.rejects(rates.eurPerUsd(), { message: 'simulated fault' });
});
