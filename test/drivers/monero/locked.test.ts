/** Payments that whoever sent them has locked: they count once they can be spent, and those locked for ever cost no more after a while. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { TopupWorld } from '../../support/topup-world.ts';
import { MoneroStub } from './monero-stub.ts';

const NEVER = 4_000_000_000;
let stub: MoneroStub;

beforeEach(async () => {
  stub = await MoneroStub.start();
});
afterEach(() => stub.close());

it('a payment that is locked has no confirmations until it can be spent', async () => {
  const driver = stub.driver();
  stub.pay(1, 5n, 100, 105);
  stub.pay(2, 5n, 100, stub.blocks[100]?.time ?? 0);
  stub.pay(3, 5n, 100, 4_000_000_000);
  const counted = async () => {
    const { observations } = await driver.poll({ cursor: null });
    return observations.map(({ state, confirmations }) => `${state} ${confirmations}`);
  };
  assert.deepEqual(await counted(), ['included 0', 'included 1', 'included 0']);
  stub.mine(4);
  assert.deepEqual(await counted(), ['included 5', 'included 5', 'included 0']);
  stub.mine(60);
  assert.deepEqual(await counted(), ['final 65', 'final 65', 'included 0']);
});

it('a payment that is locked for ever is asked for no more after a week, and never confirmed', async () => {
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

it('a payment locked for ever is not credited, and after a week the wallet is asked for it no more', async (t) => {
  const world = await TopupWorld.start({ chains: () => new Map([['XMR', stub.driver()]]) });
  t.after(() => world.close());
  const topup = await world.createInvoice(50, 'XMR');
  stub.mine(1);
  const { txid } = stub.pay(1, topup.deposit_units, stub.height, NEVER);
  await world.runUntilIdle();
  const asked = () =>
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
  const whileYoung = asked();
  assert.ok(whileYoung > 0);
  // The chain did not move: nothing is different.
  await world.watchJob.run();
  assert.equal(asked(), whileYoung);
  stub.mine(5_000);
  await world.runUntilIdle();
  assert.deepEqual(await state(), [[txid, 'final', null]]);
  const whenOld = asked();
  stub.mine(1);
  await world.runUntilIdle();
  assert.equal(asked(), whenOld);
  assert.equal((await world.reloadTopup(topup)).credited_cents, 0n);
});
