/**
 * Payments locked by their sender: credited once they can be spent; permanently locked ones cost nothing
 * after a week.
 */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { TopupWorld } from '../../../support/topup-world.ts';
import { MoneroStub } from './monero-stub.ts';

const NEVER = 4_000_000_000;
let stub: MoneroStub;

beforeEach(async () => {
  stub = await MoneroStub.start();
});
afterEach(() => stub.close());

it('a locked payment has no confirmations until it can be spent', async () => {
  const driver = stub.driver();
  stub.pay(1, 5n, 100, 105);
  stub.pay(2, 5n, 100, stub.blocks[100]?.time ?? 0);
  stub.pay(3, 5n, 100, 4_000_000_000);
  const states = async () => {
    const { observations } = await driver.poll({ cursor: null });
    return observations.map(({ state, confirmations }) => `${state} ${confirmations}`);
  };
  assert.deepEqual(await states(), ['included 0', 'included 1', 'included 0']);
  stub.mine(4);
  assert.deepEqual(await states(), ['included 5', 'included 5', 'included 0']);
  stub.mine(60);
  assert.deepEqual(await states(), ['final 65', 'final 65', 'included 0']);
});

it('a permanently locked payment is final without confirmations after a week', async () => {
  const driver = stub.driver();
  const { txid } = stub.pay(3, 5n, 100, 4_000_000_000);
  const state = async () => {
    const [seen] = await driver.recheck([`${txid}:3`]);
    return `${seen?.state} ${seen?.confirmations}`;
  };
  assert.match(JSON.stringify(await driver.examine(1)), /locked \(unlock_time\): 1\./);
  stub.mine(5_038);
  assert.equal(await state(), 'included 0');
  stub.mine(1);
  assert.equal(await state(), 'final 0');
  stub.mine(6_000);
  assert.doesNotMatch(JSON.stringify(await driver.examine(1)), /locked/);
});

it('a permanently locked payment is never credited and not rechecked after a week', async (t) => {
  const world = await TopupWorld.start({ chains: () => new Map([['XMR', stub.driver()]]) });
  t.after(() => world.close());
  const topup = await world.createInvoice(50, 'XMR');
  stub.mine(1);
  const { txid } = stub.pay(1, topup.deposit_units, stub.height, NEVER);
  await world.runUntilIdle();
  const rechecks = () =>
    stub.calls.filter(
      ({ method, params }) => method === 'get_transfers' && params.subaddr_indices !== undefined,
    ).length;
  const state = async () =>
    (await world.deposits(topup)).map((each) => [each.txid, each.state, each.credited_cents]);
  assert.deepEqual(await state(), [[txid, 'included', null]]);
  for (const blocks of [100, 1]) {
    stub.mine(blocks);
    await world.runUntilIdle();
  }
  const early = rechecks();
  assert.ok(early > 0);
  // Without a new block there is no recheck.
  await world.watchJob.run();
  assert.equal(rechecks(), early);
  stub.mine(5_000);
  await world.runUntilIdle();
  assert.deepEqual(await state(), [[txid, 'final', null]]);
  const late = rechecks();
  stub.mine(1);
  await world.runUntilIdle();
  assert.equal(rechecks(), late);
  assert.equal((await world.reloadTopup(topup)).credited_cents, 0n);
});
