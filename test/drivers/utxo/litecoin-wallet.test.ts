/** What a real Litecoin node watches for the service, and what it must not be. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { UnsafeChainError } from '../../../src/ports/chain.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { accountKey, LitecoinWorld, WATCH_WALLET } from './litecoin-world.ts';

describe('a Litecoin wallet that only watches', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
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

  it('gives out the same address for the same number, and watches it and a thousand with it', async () => {
    const first = await allocate(0);
    assert.deepEqual(await allocate(0), first);
    const last = (await allocate(999)).address;
    assert.equal(await watched(first.address), true);
    assert.equal(await watched(last), true);
    const [next] = await Promise.all([1_000, 1_001].map((index) => allocate(index)));
    assert.equal(await watched(next?.address ?? ''), true);
    assert.match((await coins.driver().examine(1_002))[0]?.message ?? '', /watches all 1002/);
  });

  it('imports whole what a node that was killed has imported in part', async () => {
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

  it('never has a key', async () => {
    const info = (await coins.watcher.call('getwalletinfo', [], WATCH_WALLET)) as Record<string, unknown>;
    assert.equal(info.private_keys_enabled, false);
    assert.equal(info.keypoolsize, 0);
    const { address } = await allocate(0);
    await assert.rejects(coins.watcher.call('dumpprivkey', [address], WATCH_WALLET));
  });

  it('sees every payment, but no newly made coins', async () => {
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

  it('names the longest row of addresses that were never paid', async () => {
    const third = (await allocate(3)).address;
    const [watching, gap] = await coins.driver({ paid: async () => new Set([third]) }).examine(30);
    assert.equal(watching?.level, 'ok');
    assert.match(gap?.message ?? '', /at most 26 in a row .* gap limit of 27/);
    assert.equal(gap?.level, 'note');
  });

  it('made anew watches the addresses of a key that was exchanged once that key is proven to it', async () => {
    const wallet = 'anew';
    await coins.makeWatchWallet(wallet);
    const former = coins.driver({ wallet, allocatedCount: 8, account: accountKey(200) });
    const present = coins.driver({ wallet, allocatedCount: 8 });
    await present.checkSafety();
    const { address } = await allocate(3, coins.driver({ account: accountKey(200) }));
    assert.equal(await watched(address, wallet), false);
    await former.checkSafety();
    assert.equal(await watched(address, wallet), true);
    assert.equal((await present.examine(8))[0]?.level, 'ok');
    await coins.watcher.call('unloadwallet', [wallet]);
  });

  it('is well, and says its height', async () => {
    const health = await coins.driver().health();
    assert.deepEqual([health.ok, health.height], [true, await coins.watcher.height()]);
    assert.ok(health.tipAt !== null);
    assert.match(health.detail, /^network regtest/);
  });

  it('is refused where networks without value are', async () => {
    await coins.driver().checkSafety();
    await assert.rejects(coins.driver({ allowTest: false }).checkSafety(), UnsafeChainError);
    await assert.rejects(allocate(0, coins.driver({ allowTest: false })), UnsafeChainError);
  });

  it('is refused where it can spend, or another of its node can', async () => {
    await coins.watcher.call('createwallet', ['spends']);
    const refused = (says: RegExp) => (error: unknown) =>
      error instanceof UnsafeChainError && says.test(error.message);
    await assert.rejects(
      coins.driver({ wallet: 'spends' }).checkSafety(),
      refused(/^the wallet can hold private keys/),
    );
    await assert.rejects(coins.driver().checkSafety(), refused(/^a wallet that the node has loaded/));
    await coins.watcher.call('unloadwallet', ['spends']);
    await coins.driver().checkSafety();
    await assert.rejects(coins.driver({ wallet: 'spends' }).checkSafety(), /not loaded the wallet/);
  });
});
