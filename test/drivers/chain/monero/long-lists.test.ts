/** Lists of payments that exceed the response limit. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { MoneroStub } from './monero-stub.ts';

let stub: MoneroStub;

beforeEach(async () => {
  stub = await MoneroStub.start();
});
afterEach(() => stub.close());

it('a list that is too long is requested with fewer blocks at a time', async () => {
  const driver = stub.driver();
  const payments = [60, 70, 99].map((height) => stub.pay(1, BigInt(height), height));
  stub.maxListed = 1;
  const amounts = (observations: readonly { readonly amountUnits: bigint }[]) =>
    observations.map(({ amountUnits }) => amountUnits);
  const { observations } = await driver.poll({ cursor: null });
  assert.deepEqual(amounts(observations), [60n, 70n, 99n]);
  const rechecked = await driver.recheck(payments.map(({ txid }) => `${txid}:1`));
  assert.deepEqual(amounts(rechecked), [60n, 70n, 99n]);
  stub.maxListed = 0;
  await assert.rejects(driver.recheck([`${payments[2]?.txid}:1`]), /too large/);
});

it('a recheck requests only the blocks of its payments', async () => {
  const driver = stub.driver();
  stub.pay(1, 5n, 20);
  const { txid } = stub.pay(1, 6n, 99);
  stub.maxListed = 1;
  stub.calls.length = 0;
  const [seen] = await driver.recheck([`${txid}:1`]);
  assert.deepEqual([seen?.amountUnits, stub.callCount('get_transfers')], [6n, 1]);
});
