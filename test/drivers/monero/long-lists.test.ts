/** Lists of payments that are longer than what is read of one answer. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { MoneroStub } from './monero-stub.ts';

let stub: MoneroStub;

beforeEach(async () => {
  stub = await MoneroStub.start();
});
afterEach(() => stub.close());

it('more payments than one answer holds are asked for by fewer blocks at once', async () => {
  const driver = stub.driver();
  const payments = [60, 70, 99].map((height) => stub.pay(1, BigInt(height), height));
  stub.maxListed = 1;
  const amounts = (seen: readonly { readonly amountUnits: bigint }[]) =>
    seen.map(({ amountUnits }) => amountUnits);
  const { observations } = await driver.poll({ cursor: null });
  assert.deepEqual(amounts(observations), [60n, 70n, 99n]);
  const rechecked = await driver.recheck(payments.map(({ txid }) => `${txid}:1`));
  assert.deepEqual(amounts(rechecked), [60n, 70n, 99n]);
  stub.maxListed = 0;
  await assert.rejects(driver.recheck([`${payments[2]?.txid}:1`]), /too long/);
});

it('a recheck asks for the blocks in question alone', async () => {
  const driver = stub.driver();
  stub.pay(1, 5n, 20);
  const { txid } = stub.pay(1, 6n, 99);
  stub.maxListed = 1;
  stub.calls.length = 0;
  const [seen] = await driver.recheck([`${txid}:1`]);
  assert.deepEqual([seen?.amountUnits, stub.callCount('get_transfers')], [6n, 1]);
});
