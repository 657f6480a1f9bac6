/** What real nodes do not do on demand, of a wallet and a node that do as they are told. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { MoneroSecondNode } from '../../../src/drivers/chain/monero/second-node.ts';
import { NodeBehind } from '../../../src/drivers/chain/node-behind.ts';
import { UnsafeChainError } from '../../../src/ports/chain.ts';
import { MoneroStub, StubRpcError } from './monero-stub.ts';

const TXID = 'ab'.repeat(32);
let stub: MoneroStub;

beforeEach(async () => {
  stub = await MoneroStub.start();
});
afterEach(() => stub.close());

it('an amount beyond what a number holds is told to the last digit', async () => {
  stub.pay(1, 18_446_744_073_709_551_615n, 100);
  const { observations, cursor, isComplete } = await stub.driver().poll({ cursor: null });
  assert.deepEqual(
    [observations[0]?.amountUnits, cursor, isComplete],
    [18_446_744_073_709_551_615n, stub.cursor, true],
  );
});

it('what was sent twice is told as spent elsewhere, by poll and by recheck', async () => {
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

it('what came to the primary address belongs to no invoice', async () => {
  stub.pay(0, 5n, 100);
  assert.deepEqual((await stub.driver().poll({ cursor: null })).observations, []);
});

it('nothing is told while the node is below its wallet', async () => {
  stub.pay(1, 5n, 100);
  stub.walletHeight = 104;
  stub.refreshes = false;
  await assert.rejects(stub.driver().poll({ cursor: null }), NodeBehind);
  await assert.rejects(stub.driver().recheck([`${TXID}:1`]), NodeBehind);
  stub.mine(4);
  assert.equal((await stub.driver().poll({ cursor: null })).observations.length, 1);
});

it('nothing is told while the node is below the cursor, or the wallet below the node', async () => {
  await assert.rejects(stub.driver().poll({ cursor: `101:${TXID}` }), NodeBehind);
  stub.refreshes = false;
  stub.walletHeight = 99;
  await assert.rejects(stub.driver().poll({ cursor: null }), /has read up to block 99 of 100/);
});

it('a block that came while the chain was read has it read again', async () => {
  const driver = stub.driver();
  stub.pay(1, 5n, 100);
  let toCome = 2;
  stub.beforeAnswer = (method) => {
    if (method === 'get_transfers' && toCome-- > 0) stub.mine(1);
  };
  const { observations, cursor } = await driver.poll({ cursor: null });
  assert.deepEqual([observations[0]?.confirmations, cursor], [3, stub.cursor]);
  toCome = 1000;
  await assert.rejects(driver.poll({ cursor: null }), /changed while it was read/);
});

it('a payment that the node does not have where the wallet has it is not told', async () => {
  const { txid } = stub.pay(1, 5n, 100);
  for (const place of [99, null, 'nowhere'] as const) {
    stub.locations.set(txid, place);
    await assert.rejects(stub.driver().poll({ cursor: null }), /do both belong together/);
  }
});

it('a payment that came back into the pool is waiting, though the wallet does not show it', async () => {
  const key = `${TXID}:4`;
  stub.locations.set(TXID, null);
  const [seen] = await stub.driver().recheck([key]);
  const address = stub.account.subaddress(stub.viewKey, 4);
  assert.deepEqual([seen?.state, seen?.address], ['mempool', address]);
});

it('a payment that the chain has and the wallet forgot is neither credited nor taken back', async () => {
  stub.locations.set(TXID, 90);
  const [seen] = await stub.driver().recheck([`${TXID}:4`]);
  assert.deepEqual([seen?.state, seen?.confirmations, seen?.agreed], ['included', 11, false]);
  assert.equal(seen?.blockHash, stub.blocks[90]?.hash);
  // However deep it gets: what is final is never asked for again, and nobody credited this.
  stub.mine(100);
  const [later] = await stub.driver().recheck([`${TXID}:4`]);
  assert.deepEqual([later?.state, later?.confirmations, later?.agreed], ['included', 111, false]);
});

it('what is nowhere is removed, and so is a key that is none', async () => {
  const states = (await stub.driver().recheck([`${TXID}:4`, 'nonsense'])).map(({ state }) => state);
  assert.deepEqual(states, ['removed', 'removed']);
});

it('a block that took the place of another is told, with what is in it now', async () => {
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

it('an idle look asks for no block', async () => {
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

it('a long absence is made up for in portions', async () => {
  stub.mine(2000);
  for (const height of [150, 900, 2050]) stub.pay(1, BigInt(height), height);
  const driver = stub.driver();
  const told = new Set<bigint>();
  let from = `100:${stub.blocks[100]?.hash}`;
  for (let polls = 1, isWhole = false; !isWhole; polls++) {
    const { cursor, observations, isComplete } = await driver.poll({ cursor: from });
    for (const { amountUnits } of observations) told.add(amountUnits);
    [from, isWhole] = [cursor, isComplete];
    assert.ok(polls < 10);
  }
  assert.deepEqual([...told], [150n, 900n, 2050n]);
  assert.equal(from, stub.cursor);
});

it('the first look after a start goes back a week, however far was read before', async () => {
  stub.mine(6000);
  for (const height of [1000, 1100, 5000]) stub.pay(1, BigInt(height), height);
  const driver = stub.driver();
  const looks = [];
  for (let look = 0; look < 2; look++) {
    const { cursor, observations } = await driver.poll({ cursor: stub.cursor });
    assert.equal(cursor, stub.cursor);
    looks.push(observations.map(({ amountUnits }) => amountUnits));
  }
  assert.deepEqual(looks, [[1100n, 5000n], []]);
});

it('an address is made with all before it, written down from time to time, and the same when asked again', async () => {
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

it('a wallet that was put back has all addresses made again when it is proven', async () => {
  await stub.driver({ allocatedCount: async () => 700 }).checkSafety();
  assert.ok(stub.addresses >= 701);
});

it('an address that the wallet derives otherwise is not given out', async () => {
  stub.answers.get_address = (params) => {
    const isPrimary = (params.address_index as number[])[0] === 0;
    return { addresses: [{ address: isPrimary ? stub.address : stub.account.subaddress(stub.viewKey, 99) }] };
  };
  const order = { id: 'a', index: 0, amountUnits: 1n };
  await assert.rejects(stub.driver().allocate(order), /two derivations of address 1 differ/);
});

it('what can spend, or does not say so, or belongs elsewhere, is not used', async () => {
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
  await refuses(/has its spend key/);
  key(() => {
    throw new StubRpcError(-7, 'Command unavailable in restricted mode.');
  });
  await refuses(/start it without --restricted-rpc/);
  key(() => '0'.repeat(64));
  await stub.driver().checkSafety();
  stub.answers.query_key = ({ key_type: type }) => ({
    key: (type === 'view_key' ? '08' : '').padEnd(64, '0'),
  });
  await refuses(/view key is not that of SKERRY_XMR_ADDRESS/);
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

it('what goes wrong is said without the node’s address, its password or a key', async () => {
  const secret = { url: 'http://127.0.0.1:1/secret-path', authorization: 'Basic c2VjcmV0' };
  const driver = stub.driver({ wallet: secret, daemon: secret });
  const error = await driver.checkSafety().catch((each: unknown) => each);
  assert.ok(error instanceof Error);
  assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /secret|127\.0\.0\.1|c2Vj/);
});

it('a node that is busy, or asks another one, is waited for', async () => {
  stub.answers.get_last_block_header = () => ({ status: 'BUSY' });
  await assert.rejects(stub.driver().poll({ cursor: null }), /busy/);
  stub.answers.get_last_block_header = () => ({ status: 'OK', untrusted: true });
  await assert.rejects(stub.driver().poll({ cursor: null }), /asks another one/);
});

it('health says what is wrong with the node or its wallet', async () => {
  const detail = async () => {
    const { ok, detail: says } = await stub.driver().health();
    return `${ok}: ${says}`;
  };
  const block = stub.blocks[100] ?? assert.fail();
  block.time = Math.floor(Date.now() / 1000) - 7200;
  assert.equal(await detail(), 'false: the newest block is 120 minutes old');
  block.time += 7200;
  assert.equal(await detail(), 'true: mainnet, synchronised, 12 peers');
  stub.walletHeight = 90;
  stub.refreshes = false;
  assert.equal(await detail(), 'false: the wallet has read up to block 90 of 100');
  stub.refreshes = true;
  assert.equal(await detail(), 'true: mainnet, synchronised, 12 peers');
  const info = { status: 'OK', nettype: 'mainnet', height: 101, target_height: 0, restricted: true };
  stub.walletHeight = 100;
  stub.answers.get_info = () => info;
  assert.equal(await detail(), 'true: mainnet, synchronised');
  stub.answers.get_info = () => ({ ...info, target_height: 200 });
  assert.equal(await detail(), 'false: the node reads block 100 of 199');
  stub.answers.get_info = () => ({
    ...info,
    ...{ restricted: false, outgoing_connections_count: 0, incoming_connections_count: 0 },
  });
  assert.equal(await detail(), 'false: the node has no peers');
});

it('a second node agrees to the same block alone', async () => {
  const payment = stub.pay(1, 5n, 99);
  const { observations } = await stub.driver().poll({ cursor: null });
  const witness = new MoneroSecondNode({ daemon: stub.node, allowTest: false });
  const key = `${payment.txid}:1`;
  assert.deepEqual([...(await witness.confirm(observations))], [[key, 2]]);
  stub.blocks[99] = { hash: TXID, time: 1 };
  assert.deepEqual([...(await witness.confirm(observations))], []);
  stub.blocks.splice(99);
  assert.deepEqual([...(await witness.confirm(observations))], []);
});
