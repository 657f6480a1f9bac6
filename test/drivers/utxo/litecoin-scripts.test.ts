/** Scripts of a real Litecoin network: whatever payers and miners do, what is credited is what the blocks hold, once. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../src/domain/verify/verify.ts';
import type { TopupRow } from '../../../src/store/topups.ts';
import { FULL_ONLY, PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { TopupWorld } from '../../support/topup-world.ts';
import { NO_LITECOIND } from './litecoin-node.ts';
import { LitecoinWorld } from './litecoin-world.ts';

/** Of 50 dollars, at 80 dollars a coin; they need two confirmations. */
const COINS = '0.625';
const CENTS = 5_000n;
const DEEP_ENOUGH = 2;
/** Each takes a second, most of it the nodes'. */
const SCRIPTS_MAX = 25;

type Step =
  | { readonly do: 'pay'; readonly which: number }
  | { readonly do: 'double-spend' | 'bump'; readonly which: number }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'reorganise'; readonly blocks: number }
  | { readonly do: 'lose'; readonly blocks: number }
  | { readonly do: 'look' }
  | { readonly do: 'restart' };

const which = fc.nat(3);
const blocks = fc.integer({ min: 1, max: 3 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pay'), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('double-spend', 'bump'), which }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('mine', 'mine', 'reorganise', 'lose'), blocks }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('look', 'look', 'restart') }) },
) as fc.Arbitrary<Step>;

describe('a Litecoin network', { skip: FULL_ONLY.skip || NO_LITECOIND }, () => {
  let coins: LitecoinWorld;
  let world: TopupWorld;
  /** Payments that the script made, and their invoices. */
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
    if (action.do === 'look') await world.runUntilIdle();
    else if (action.do === 'restart') restartDriver();
    else if (action.do === 'mine') await coins.mine(action.blocks);
    else if (action.do === 'reorganise') await reorganise(action.blocks);
    else if (action.do === 'lose') await loseBlocks(action.blocks);
    else if (action.do === 'pay') await pay(action.which);
    else await replace(action.do, action.which);
  }

  async function pay(nth: number): Promise<void> {
    const topup = topups[nth % topups.length];
    if (topup) paid.push(await coins.pay(topup.deposit_address, COINS));
  }

  /** The service's node makes blocks of its own, is looked at, and then meets a longer branch without payments. */
  async function reorganise(count: number): Promise<void> {
    await coins.watcher.disconnect();
    await coins.mineAtWatcher(count);
    await world.runUntilIdle();
    await coins.mineEmpty(count + 1);
    await coins.watcher.connect(coins.payer);
  }

  /** The service's node forgets its newest blocks for a while; it is looked at, and must be waited for. */
  async function loseBlocks(count: number): Promise<void> {
    await world.runUntilIdle();
    const before = await standing();
    const lost = await coins.watcher.call('getblockhash', [(await coins.watcher.height()) - count + 1]);
    await coins.watcher.call('invalidateblock', [lost]);
    await world.watchJob.run();
    assert.deepEqual(await standing(), before);
    await coins.watcher.call('reconsiderblock', [lost]);
  }

  async function replace(how: 'double-spend' | 'bump', nth: number): Promise<void> {
    const txid = paid[nth % Math.max(1, paid.length)];
    if (txid === undefined || !(await coins.isWaiting(txid))) return;
    await coins.walletHears();
    if (how === 'bump') {
      const bumped = await coins.payer.call('bumpfee', [txid], 'pay').catch(() => null);
      if (bumped !== null) await coins.passOn((bumped as { txid: string }).txid);
      return;
    }
    // A payment that another one already spends cannot be replaced by this one.
    const rival = await coins.rival(txid);
    const taken = await coins.payer.call('sendrawtransaction', [rival, 0]).catch(() => null);
    if (taken !== null) await coins.passOn(String(taken));
  }

  async function standing(): Promise<bigint[]> {
    const deposits = await Promise.all(topups.map((topup) => world.deposits(topup)));
    return deposits.map((each) => each.reduce((sum, { credited_cents }) => sum + (credited_cents ?? 0n), 0n));
  }

  /** What the blocks of the service's node hold for each invoice, deep enough: read block by block, without a wallet. */
  async function inBlocks(fromHeight: number): Promise<bigint[]> {
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

  it('leaves credited what its blocks hold, once, after any script', async (t) => {
    let credited = 0n;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (script) => {
        // What an earlier script left in the mempool is none of this one.
        await coins.mine();
        const from = (await coins.watcher.height()) + 1;
        paid = [];
        topups = [await world.createInvoice(50, 'LTC'), await world.createInvoice(50, 'LTC')];
        for (const action of script) await run(action);
        await world.runUntilIdle();
        assert.deepEqual(await standing(), await inBlocks(from));
        await coins.mine(DEEP_ENOUGH);
        restartDriver();
        await world.runUntilIdle();
        const held = await inBlocks(from);
        assert.deepEqual(await standing(), held);
        credited += held.reduce((sum, cents) => sum + cents, 0n) / CENTS;
      }),
      { ...seededRuns(t, Math.min(PROPERTY_RUNS, SCRIPTS_MAX)), endOnFailure: true },
    );
    const broken = (await verify(world.service)).filter((finding) => finding.broken > 0n);
    assert.deepEqual(broken, []);
    t.diagnostic(`${credited} payments credited`);
  });
});
