/** Situations that real nodes don't produce on demand, with a stub wallet and a stub node. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { NodeBehind } from '../../../../src/drivers/chain/cursor.ts';
import { moneroSecondNode } from '../../../../src/drivers/chain/monero/second-node.ts';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import { MoneroStub, StubRpcError } from './monero-stub.ts';

const TXID = 'ab'.repeat(32);
let stub: MoneroStub;

beforeEach(async () => {
  stub = await MoneroStub.start();
});
afterEach(() => stub.close());

it('an amount beyond the precision of a number is exact', async () => {
  stub.pay(1, 18_446_744_073_709_551_615n, 100);
  const { observations, cursor, isComplete } = await stub.driver().poll({ cursor: null });
  assert.deepEqual(
    [observations[0]?.amountUnits, cursor, isComplete],
    [18_446_744_073_709_551_615n, stub.cursor, true],
  );
});

it('a double-spent payment is conflicted, in polls and rechecks', async () => {
  const driver = stub.driver();
  const payment = stub.pay(3, 5n, null);
  const states = async () => {
    const { observations } = await driver.poll({ cursor: stub.cursor });
    const rechecked = await driver.recheck([`${payment.txid}:3`]);
    return [...observations, ...rechecked].map(({ state }) => state);
  };
  assert.deepEqual(await states(), ['mempool', 'mempool']);
  payment.doubleSpent = true;
  assert.deepEqual(await states(), ['conflicted', 'conflicted']);
});

it('a payment to the primary address belongs to no invoice', async () => {
  stub.pay(0, 5n, 100);
  assert.deepEqual((await stub.driver().poll({ cursor: null })).observations, []);
});

it('nothing is reported while the node is below its wallet', async () => {
  stub.pay(1, 5n, 100);
  stub.walletHeight = 104;
  stub.refreshes = false;
  await assert.rejects(stub.driver().poll({ cursor: null }), NodeBehind);
  await assert.rejects(stub.driver().recheck([`${TXID}:1`]), NodeBehind);
  stub.mine(4);
  assert.equal((await stub.driver().poll({ cursor: null })).observations.length, 1);
});

it('nothing is reported while the node is below the cursor or the wallet below the node', async () => {
  await assert.rejects(stub.driver().poll({ cursor: `101:${TXID}` }), NodeBehind);
  stub.refreshes = false;
  stub.walletHeight = 99;
  await assert.rejects(stub.driver().poll({ cursor: null }), /the wallet is at block 99 of 100/);
});

it('a new block during a poll repeats the read', async () => {
  const driver = stub.driver();
  stub.pay(1, 5n, 100);
  let newBlocks = 2;
  stub.beforeAnswer = (method) => {
    if (method === 'get_transfers' && newBlocks-- > 0) stub.mine(1);
  };
  const { observations, cursor } = await driver.poll({ cursor: null });
  assert.deepEqual([observations[0]?.confirmations, cursor], [3, stub.cursor]);
  newBlocks = 1000;
  await assert.rejects(driver.poll({ cursor: null }), /the chain changed during the read/);
});

it('a payment that the node does not have in the block of the wallet is not reported', async () => {
  const { txid } = stub.pay(1, 5n, 100);
  for (const place of [99, null, 'nowhere'] as const) {
    stub.locations.set(txid, place);
    await assert.rejects(stub.driver().poll({ cursor: null }), /Make sure that the wallet uses this node/);
  }
});

it('a payment that returned to the pool is unconfirmed, although the wallet does not list it', async () => {
  const key = `${TXID}:4`;
  stub.locations.set(TXID, null);
  const [seen] = await stub.driver().recheck([key]);
  const address = stub.account.subaddress(stub.viewKey, 4);
  assert.deepEqual([seen?.state, seen?.address], ['mempool', address]);
});

it('a payment that the chain has but the wallet forgot is neither credited nor reversed', async () => {
  stub.locations.set(TXID, 90);
  const [seen] = await stub.driver().recheck([`${TXID}:4`]);
  assert.deepEqual([seen?.state, seen?.confirmations, seen?.agreed], ['included', 11, false]);
  assert.equal(seen?.blockHash, stub.blocks[90]?.hash);
  // At any depth: a final payment would never be rechecked, and this one was not credited.
  stub.mine(100);
  const [later] = await stub.driver().recheck([`${TXID}:4`]);
  assert.deepEqual([later?.state, later?.confirmations, later?.agreed], ['included', 111, false]);
});

it('an unknown transaction and an invalid key are removed', async () => {
  const states = (await stub.driver().recheck([`${TXID}:4`, 'nonsense'])).map(({ state }) => state);
  assert.deepEqual(states, ['removed', 'removed']);
});

it('a payment in a replaced block is reported with its new block', async () => {
  const driver = stub.driver();
  const payment = stub.pay(1, 5n, 99);
  const before = await driver.poll({ cursor: null });
  stub.blocks.splice(98);
  stub.mine(4);
  payment.height = 100;
  const { observations } = await driver.poll({ cursor: before.cursor });
  const [seen] = observations;
  assert.deepEqual([seen?.height, seen?.blockHash, seen?.confirmations], [100, stub.blocks[100]?.hash, 2]);
});

it('a poll without a new block requests no blocks', async () => {
  const driver = stub.driver();
  await driver.poll({ cursor: null });
  stub.pay(1, 5n, 100);
  stub.pay(2, 5n, null);
  stub.calls.length = 0;
  const { observations } = await driver.poll({ cursor: stub.cursor });
  assert.deepEqual(
    observations.map(({ state }) => state),
    ['mempool'],
  );
  assert.deepEqual(
    stub.calls.map(({ method }) => method),
    ['get_last_block_header', 'get_transfers', 'get_last_block_header'],
  );
});

it('a long outage is caught up in several polls', async () => {
  stub.mine(2000);
  for (const height of [150, 900, 2050]) stub.pay(1, BigInt(height), height);
  const driver = stub.driver();
  const amounts = new Set<bigint>();
  let from = `100:${stub.blocks[100]?.hash}`;
  for (let polls = 1, isDone = false; !isDone; polls++) {
    const { cursor, observations, isComplete } = await driver.poll({ cursor: from });
    for (const { amountUnits } of observations) amounts.add(amountUnits);
    [from, isDone] = [cursor, isComplete];
    assert.ok(polls < 10);
  }
  assert.deepEqual([...amounts], [150n, 900n, 2050n]);
  assert.equal(from, stub.cursor);
});

it('the first poll after a start looks back one week from any cursor', async () => {
  stub.mine(6000);
  for (const height of [1000, 1100, 5000]) stub.pay(1, BigInt(height), height);
  const driver = stub.driver();
  const polled = [];
  for (let polls = 0; polls < 2; polls++) {
    const { cursor, observations } = await driver.poll({ cursor: stub.cursor });
    assert.equal(cursor, stub.cursor);
    polled.push(observations.map(({ amountUnits }) => amountUnits));
  }
  assert.deepEqual(polled, [[1100n, 5000n], []]);
});

it('an address is created with all before it, saved from time to time, and stable', async () => {
  const driver = stub.driver();
  const order = { id: 'a', index: 0, amountUnits: 187_500_000_000n };
  const first = await driver.allocate(order);
  assert.equal(first.address, stub.account.subaddress(stub.viewKey, 1));
  assert.equal(first.uri, `monero:${first.address}?tx_amount=0.1875`);
  assert.deepEqual(await driver.allocate(order), first);
  assert.equal(stub.addresses, 2);
  await driver.allocate({ ...order, index: 200 });
  assert.equal(stub.addresses, 202);
  const stored = stub.callCount('store');
  assert.ok(stored > 0);
  await driver.allocate({ ...order, index: 240 });
  assert.equal(stub.callCount('store'), stored);
  await driver.allocate({ ...order, index: 250 });
  assert.equal(stub.callCount('store'), stored + 1);
});

it('a restored wallet gets all assigned addresses back during its safety check', async () => {
  await stub.driver({ allocatedCount: async () => 700 }).checkSafety();
  assert.ok(stub.addresses >= 701);
});

it('an address that the wallet derives differently is not assigned', async () => {
  stub.answers.get_address = (params) => {
    const isPrimary = (params.address_index as number[])[0] === 0;
    return { addresses: [{ address: isPrimary ? stub.address : stub.account.subaddress(stub.viewKey, 99) }] };
  };
  const order = { id: 'a', index: 0, amountUnits: 1n };
  await assert.rejects(stub.driver().allocate(order), /two derivations of address 1 don't match/);
});

it('a wallet that can spend, may be able to, or belongs to someone else is rejected', async () => {
  const order = { id: 'a', index: 0, amountUnits: 1n };
  const refuses = async (why: RegExp) => {
    const driver = stub.driver();
    for (const use of [
      () => driver.checkSafety(),
      () => driver.allocate(order),
      () => driver.poll({ cursor: null }),
    ]) {
      await assert.rejects(use(), why);
    }
  };
  const key = (spendKey: () => string) => {
    stub.answers.query_key = ({ key_type: type }) => ({
      key: type === 'view_key' ? stub.viewKey : spendKey(),
    });
  };
  key(() => '0b'.padEnd(64, '0'));
  await refuses(/the wallet can spend/);
  key(() => {
    throw new StubRpcError(-7, 'Command unavailable in restricted mode.');
  });
  await refuses(/start it without --restricted-rpc/);
  key(() => '0'.repeat(64));
  await stub.driver().checkSafety();
  stub.answers.query_key = ({ key_type: type }) => ({
    key: (type === 'view_key' ? '08' : '').padEnd(64, '0'),
  });
  await refuses(/view key does not belong to SKERRY_XMR_ADDRESS/);
  stub.answers.get_info = () => ({
    status: 'OK',
    nettype: 'stagenet',
    height: 1,
    target_height: 0,
    outgoing_connections_count: 1,
    incoming_connections_count: 0,
  });
  await refuses(/stagenet/);
  await assert.rejects(
    stub.driver({ allowTest: true }).checkSafety(),
    (error) => error instanceof UnsafeChainError,
  );
});

it('no error contains the address, the password, or a key of the node', async () => {
  const secret = { url: 'http://127.0.0.1:1/secret-path', authorization: 'Basic c2VjcmV0' };
  const driver = stub.driver({ wallet: secret, daemon: secret });
  const error = await driver.checkSafety().catch((each: unknown) => each);
  assert.ok(error instanceof Error);
  assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /secret|127\.0\.0\.1|c2Vj/);
});

it('a node that is busy or uses another node is retried', async () => {
  stub.answers.get_last_block_header = () => ({ status: 'BUSY' });
  await assert.rejects(stub.driver().poll({ cursor: null }), /busy/);
  stub.answers.get_last_block_header = () => ({ status: 'OK', untrusted: true });
  await assert.rejects(stub.driver().poll({ cursor: null }), /is using another node/);
});

it('health reports the problem of the node or its wallet', async () => {
  const describeHealth = async () => {
    const { ok, detail } = await stub.driver().health();
    return `${ok}: ${detail}`;
  };
  const block = stub.blocks[100] ?? assert.fail();
  block.time = Math.floor(Date.now() / 1000) - 7200;
  assert.equal(await describeHealth(), 'false: the newest block is 120 minutes old');
  block.time += 7200;
  assert.equal(await describeHealth(), 'true: mainnet, synchronized, 12 peers');
  stub.walletHeight = 90;
  stub.refreshes = false;
  assert.equal(await describeHealth(), 'false: the wallet is at block 90 of 100');
  stub.refreshes = true;
  assert.equal(await describeHealth(), 'true: mainnet, synchronized, 12 peers');
  const info = { status: 'OK', nettype: 'mainnet', height: 101, target_height: 0, restricted: true };
  stub.walletHeight = 100;
  stub.answers.get_info = () => info;
  assert.equal(await describeHealth(), 'true: mainnet, synchronized');
  stub.answers.get_info = () => ({ ...info, target_height: 200 });
  assert.equal(await describeHealth(), 'false: the node is syncing: block 100 of 199');
  stub.answers.get_info = () => ({
    ...info,
    ...{ restricted: false, outgoing_connections_count: 0, incoming_connections_count: 0 },
  });
  assert.equal(await describeHealth(), 'false: the node has no peers');
});

it('a second Monero node agrees only to the same block', async () => {
  const payment = stub.pay(1, 5n, 99);
  const { observations } = await stub.driver().poll({ cursor: null });
  const witness = moneroSecondNode({ daemon: stub.node, allowTest: false });
  const key = `${payment.txid}:1`;
  assert.deepEqual([...(await witness.confirm(observations))], [[key, 2]]);
  stub.blocks[99] = { hash: TXID, time: 1 };
  assert.deepEqual([...(await witness.confirm(observations))], []);
  stub.blocks.splice(99);
  assert.deepEqual([...(await witness.confirm(observations))], []);
});
