/** The wallet of a real Litecoin node: the addresses that it watches, and its safety. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { UnsafeChainError } from '../../../../src/ports/chain.ts';
import { FULL_ONLY } from '../../../support/runs.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { accountKey, LitecoinWorld, WATCH_WALLET } from './litecoin-world.ts';

describe('watch-only Litecoin wallet', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let coins: LitecoinWorld;
  before(async () => {
    coins = await LitecoinWorld.start();
  });
  after(() => coins?.close());

  function allocate(index: number, driver = coins.driver()) {
    return driver.allocate({ id: `invoice-${index}`, index, amountUnits: 1n });
  }

  async function watched(address: string, wallet = WATCH_WALLET): Promise<unknown> {
    const info = await coins.watcher.call('getaddressinfo', [address], wallet);
    return (info as { iswatchonly: unknown }).iswatchonly;
  }

  it('an index always has the same address, watched together with a thousand others', async () => {
    const first = await allocate(0);
    assert.deepEqual(await allocate(0), first);
    const last = (await allocate(999)).address;
    assert.equal(await watched(first.address), true);
    assert.equal(await watched(last), true);
    const [next] = await Promise.all([1_000, 1_001].map((index) => allocate(index)));
    assert.equal(await watched(next?.address ?? ''), true);
    assert.match((await coins.driver().examine(1_002))[0]?.message ?? '', /watches all 1002/);
  });

  it('a partial import of a killed node is completed', async () => {
    const info = await coins.watcher.call('getdescriptorinfo', [`wpkh(${coins.account.tpub}/0/*)`]);
    const { descriptor } = info as { descriptor: string };
    const part = {
      desc: descriptor,
      range: [2_000, 2_499],
      watchonly: true,
      keypool: false,
      timestamp: 'now',
    };
    await coins.watcher.call('importmulti', [[part], { rescan: false }], WATCH_WALLET);
    const { address } = await allocate(2_500);
    assert.equal(await watched(address), true);
    assert.equal(await watched((await allocate(2_999)).address), true);
  });

  it('the wallet has no keys', async () => {
    const info = (await coins.watcher.call('getwalletinfo', [], WATCH_WALLET)) as Record<string, unknown>;
    assert.equal(info.private_keys_enabled, false);
    assert.equal(info.keypoolsize, 0);
    const { address } = await allocate(0);
    await assert.rejects(coins.watcher.call('dumpprivkey', [address], WATCH_WALLET));
  });

  it('the wallet reports every payment but no coinbase outputs', async () => {
    const driver = coins.driver();
    const { address } = await allocate(3, driver);
    await coins.payer.call('generatetoaddress', [1, address]);
    const txid = await coins.pay(address, '0.12345678');
    await coins.mine();
    const { observations, cursor } = await driver.poll({ cursor: null });
    assert.deepEqual(
      observations.map((each) => [each.txid, each.amountUnits, each.state, each.address]),
      [[txid, 12_345_678n, 'included', address]],
    );
    assert.deepEqual(await driver.poll({ cursor }), { cursor, observations: [], isComplete: true });
    const [rechecked] = await coins.driver().recheck(observations.map(({ key }) => key));
    assert.deepEqual(rechecked, observations[0]);
  });

  it('findings report the longest run of unpaid addresses', async () => {
    const third = (await allocate(3)).address;
    const [watching, gap] = await coins.driver({ paid: async () => new Set([third]) }).examine(30);
    assert.equal(watching?.level, 'ok');
    assert.match(gap?.message ?? '', /at most 26 in a row .* gap limit of at least 27/);
    assert.equal(gap?.level, 'note');
  });

  it('a new wallet watches the addresses of a previous key after its safety check', async () => {
    const wallet = 'new';
    await coins.makeWatchWallet(wallet);
    const previous = coins.driver({ wallet, allocatedCount: 8, account: accountKey(200) });
    const current = coins.driver({ wallet, allocatedCount: 8 });
    await current.checkSafety();
    const { address } = await allocate(3, coins.driver({ account: accountKey(200) }));
    assert.equal(await watched(address, wallet), false);
    await previous.checkSafety();
    assert.equal(await watched(address, wallet), true);
    assert.equal((await current.examine(8))[0]?.level, 'ok');
    await coins.watcher.call('unloadwallet', [wallet]);
  });

  it('a synced wallet is healthy and reports its height', async () => {
    const health = await coins.driver().health();
    assert.deepEqual([health.ok, health.height], [true, await coins.watcher.height()]);
    assert.ok(health.tipAt !== null);
    assert.match(health.detail, /^network regtest/);
  });

  it('a test network is rejected unless it is allowed', async () => {
    await coins.driver().checkSafety();
    await assert.rejects(coins.driver({ allowTest: false }).checkSafety(), UnsafeChainError);
    await assert.rejects(allocate(0, coins.driver({ allowTest: false })), UnsafeChainError);
  });

  it('a wallet that can spend is rejected, also if it is another wallet of the node', async () => {
    await coins.watcher.call('createwallet', ['spends']);
    const refused = (pattern: RegExp) => (error: unknown) =>
      error instanceof UnsafeChainError && pattern.test(error.message);
    await assert.rejects(
      coins.driver({ wallet: 'spends' }).checkSafety(),
      refused(/^the wallet can hold private keys/),
    );
    await assert.rejects(coins.driver().checkSafety(), refused(/^a loaded wallet of the node/));
    await coins.watcher.call('unloadwallet', ['spends']);
    await coins.driver().checkSafety();
    await assert.rejects(coins.driver({ wallet: 'spends' }).checkSafety(), /the wallet is not loaded/);
  });
});
