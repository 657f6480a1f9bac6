/** Random scripts on a real Litecoin network: the credits always match the payments in the blocks. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../../src/domain/verify/verify.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { TopupWorld } from '../../../support/topup-world.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld } from './litecoin-world.ts';

/** For $50 at $80 per coin; such payments need two confirmations. */
const COINS = '0.625';
const CENTS = 5_000n;
const DEEP_ENOUGH = 2;
/** Each takes a second, mostly in the nodes. */
const SCRIPTS_MAX = 25;

type Step =
  | { readonly do: 'pay'; readonly which: number }
  | { readonly do: 'double-spend' | 'bump'; readonly which: number }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'reorganize'; readonly blocks: number }
  | { readonly do: 'lose'; readonly blocks: number }
  | { readonly do: 'poll' }
  | { readonly do: 'restart' };

const which = fc.nat(3);
const blocks = fc.integer({ min: 1, max: 3 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pay'), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('double-spend', 'bump'), which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('mine', 'mine', 'reorganize', 'lose'), blocks }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('poll', 'poll', 'restart') }) },
) as fc.Arbitrary<Step>;

describe('random scripts on a Litecoin network', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let coins: LitecoinWorld;
  let world: TopupWorld;
  /** Payments of the script, and their invoices. */
  let paid: string[] = [];
  let topups: TopupRow[] = [];

  before(async () => {
    coins = await LitecoinWorld.start();
    world = await TopupWorld.start({ chains: () => new Map([['LTC', coins.driver()]]) });
  });
  after(async () => {
    await world?.close();
    await coins?.close();
  });

  function restartDriver(): void {
    world.chains.set('LTC', coins.driver());
  }

  async function run(action: Step): Promise<void> {
    if (action.do === 'poll') await world.runUntilIdle();
    else if (action.do === 'restart') restartDriver();
    else if (action.do === 'mine') await coins.mine(action.blocks);
    else if (action.do === 'reorganize') await reorganize(action.blocks);
    else if (action.do === 'lose') await loseBlocks(action.blocks);
    else if (action.do === 'pay') await pay(action.which);
    else await replace(action.do, action.which);
  }

  async function pay(nth: number): Promise<void> {
    const topup = topups[nth % topups.length];
    if (topup) paid.push(await coins.pay(topup.deposit_address, COINS));
  }

  /**
   * The service's node mines its own blocks, is polled, and then switches to a longer branch without
   * payments.
   */
  async function reorganize(count: number): Promise<void> {
    await coins.watcher.disconnect();
    await coins.mineAtWatcher(count);
    await world.runUntilIdle();
    await coins.mineEmpty(count + 1);
    await coins.watcher.connect(coins.payer);
  }

  /** The service's node loses its newest blocks for a while; polls must wait for it. */
  async function loseBlocks(count: number): Promise<void> {
    await world.runUntilIdle();
    const before = await creditedCents();
    const lost = await coins.watcher.call('getblockhash', [(await coins.watcher.height()) - count + 1]);
    await coins.watcher.call('invalidateblock', [lost]);
    await world.watchJob.run();
    assert.deepEqual(await creditedCents(), before);
    await coins.watcher.call('reconsiderblock', [lost]);
  }

  async function replace(how: 'double-spend' | 'bump', nth: number): Promise<void> {
    const txid = paid[nth % Math.max(1, paid.length)];
    if (txid === undefined || !(await coins.isWaiting(txid))) return;
    await coins.syncPayerWallet();
    if (how === 'bump') {
      const bumped = await coins.payer.call('bumpfee', [txid], 'pay').catch(() => null);
      if (bumped !== null) await coins.relay((bumped as { txid: string }).txid);
      return;
    }
    // Fails if the payer's node has replaced this payment already, or another one spends its outputs.
    const rival = await coins.rival(txid).catch(() => null);
    const accepted = await coins.payer.call('sendrawtransaction', [rival, 0]).catch(() => null);
    if (accepted !== null) await coins.relay(String(accepted));
  }

  async function creditedCents(): Promise<bigint[]> {
    const deposits = await Promise.all(topups.map((topup) => world.deposits(topup)));
    return deposits.map((each) => each.reduce((sum, { credited_cents }) => sum + (credited_cents ?? 0n), 0n));
  }

  /**
   * Returns the confirmed cents of each invoice in the node's blocks, read block by block without a wallet.
   */
  async function centsInBlocks(fromHeight: number): Promise<bigint[]> {
    const outputs = new Map(topups.map((topup) => [topup.deposit_address, 0n]));
    const last = (await coins.watcher.height()) - DEEP_ENOUGH + 1;
    for (let height = fromHeight; height <= last; height++) {
      const hash = await coins.watcher.call('getblockhash', [height]);
      const block = (await coins.watcher.call('getblock', [hash, 2])) as {
        tx: { vout: { scriptPubKey: { addresses?: string[] } }[] }[];
      };
      for (const { scriptPubKey } of block.tx.flatMap(({ vout }) => vout)) {
        const [address = ''] = scriptPubKey.addresses ?? [];
        const count = outputs.get(address);
        if (count !== undefined) outputs.set(address, count + 1n);
      }
    }
    return topups.map(({ deposit_address: address }) => (outputs.get(address) ?? 0n) * CENTS);
  }

  it('the credits match the payments in the blocks after any script', async (t) => {
    let credited = 0n;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (script) => {
        // Mine what an earlier script left in the mempool.
        await coins.mine();
        const from = (await coins.watcher.height()) + 1;
        paid = [];
        topups = [await world.createInvoice(50, 'LTC'), await world.createInvoice(50, 'LTC')];
        for (const action of script) await run(action);
        await world.runUntilIdle();
        assert.deepEqual(await creditedCents(), await centsInBlocks(from));
        await coins.mine(DEEP_ENOUGH);
        restartDriver();
        await world.runUntilIdle();
        const confirmed = await centsInBlocks(from);
        assert.deepEqual(await creditedCents(), confirmed);
        credited += confirmed.reduce((sum, cents) => sum + cents, 0n) / CENTS;
      }),
      { ...seededRuns(t, Math.min(PROPERTY_RUNS, SCRIPTS_MAX)), endOnFailure: true },
    );
    const broken = (await verify(world.service)).filter((finding) => finding.broken > 0n);
    assert.deepEqual(broken, []);
    t.diagnostic(`${credited} payments credited`);
  });
});
