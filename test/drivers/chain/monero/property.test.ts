/**
 * After any sequence of changes to the chain, the node, and the wallet, the observations match the chain. The
 * stub wallet behaves like real ones: it keeps its blocks until its node has overtaken them, and doesn't list
 * transactions that returned to the pool.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { NodeBehind } from '../../../../src/drivers/chain/cursor.ts';
import { WalletBehind } from '../../../../src/drivers/chain/monero/consistent-reader.ts';
import type { MoneroChain } from '../../../../src/drivers/chain/monero/driver.ts';
import type { Observation } from '../../../../src/ports/chain.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { MoneroStub, type StubTransfer } from './monero-stub.ts';

type Step =
  | { readonly do: 'pay'; readonly minor: number }
  | { readonly do: 'mine'; readonly count: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly drop: boolean }
  | { readonly do: 'resend' }
  | { readonly do: 'restore node'; readonly depth: number }
  | { readonly do: 'catch up' }
  | { readonly do: 'lose wallet blocks'; readonly depth: number }
  | { readonly do: 'restart' }
  | { readonly do: 'poll' };

const few = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 5 }) },
  fc.integer({ min: 20, max: 66 }),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('pay' as const), minor: fc.integer({ min: 1, max: 4 }) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('mine' as const), count: few }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 20 }),
      drop: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'resend' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore node' as const), depth: few }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'catch up' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose wallet blocks' as const), depth: few }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'restart' }) },
  { weight: 6, arbitrary: fc.constant<Step>({ do: 'poll' }) },
);

const FIRST_BLOCKS = 101;

class Script {
  readonly #stub: MoneroStub;
  readonly #paid = new Map<string, StubTransfer>();
  /** The hash of each payment's block; null: in the pool; missing: dropped. */
  readonly #chain = new Map<string, string | null>();
  /** The blocks that the restored node doesn't have yet. */
  #unread: MoneroStub['blocks'] = [];
  /** The blocks that the wallet has scanned, and the payments that it ever saw in one of them. */
  #walletBlocks: MoneroStub['blocks'] = [];
  readonly #walletSaw = new Set<string>();
  #driver: MoneroChain;
  #cursor: string | null = null;
  readonly #observed = new Map<string, Observation>();
  /** Transactions with the blocks in which they were observed. */
  readonly #observedIn = new Set<string>();

  constructor(stub: MoneroStub) {
    this.#stub = stub;
    stub.blocks.splice(FIRST_BLOCKS);
    stub.refreshes = false;
    stub.transfers = [];
    stub.locations.clear();
    stub.beforeAnswer = (method) => {
      if (method === 'refresh') this.#refreshWallet();
      this.#updateStub();
    };
    this.#driver = stub.driver();
  }

  async run(step: Step): Promise<void> {
    const { blocks } = this.#stub;
    if (step.do === 'pay') this.#pay(step.minor);
    else if (step.do === 'mine') this.#mine(step.count);
    else if (step.do === 'reorg') this.#reorg(step.depth, step.drop);
    else if (step.do === 'resend') this.#resend();
    else if (step.do === 'restore node')
      this.#unread.unshift(...blocks.splice(Math.max(1, blocks.length - step.depth)));
    else if (step.do === 'catch up') this.#catchUp();
    else if (step.do === 'lose wallet blocks') this.#walletBlocks.splice(-step.depth);
    else if (step.do === 'restart') this.#driver = this.#stub.driver();
    else await this.poll();
  }

  #pay(minor: number): void {
    const payment = this.#stub.pay(minor, BigInt(this.#paid.size + 1), null);
    this.#paid.set(payment.txid, payment);
    this.#chain.set(payment.txid, null);
  }

  #mine(count: number): void {
    this.#catchUp();
    for (let i = 0; i < count; i++) {
      this.#stub.mine(1);
      const hash = this.#stub.blocks.at(-1)?.hash ?? '';
      for (const [txid, at] of this.#chain) if (at === null) this.#chain.set(txid, hash);
    }
  }

  /** Replaces the newest blocks with a branch that is one block longer. */
  #reorg(depth: number, drop: boolean): void {
    this.#catchUp();
    const lost = new Set(
      this.#stub.blocks.splice(Math.max(1, this.#stub.blocks.length - depth)).map(({ hash }) => hash),
    );
    for (const [txid, at] of this.#chain) {
      if (at === null || !lost.has(at)) continue;
      if (drop) this.#chain.delete(txid);
      else this.#chain.set(txid, null);
    }
    // These blocks were mined without the payments.
    this.#stub.mine(lost.size + 1);
  }

  /** Sends dropped transactions again. */
  #resend(): void {
    for (const txid of this.#paid.keys()) if (!this.#chain.has(txid)) this.#chain.set(txid, null);
  }

  #catchUp(): void {
    this.#stub.blocks.push(...this.#unread.splice(0));
  }

  #refreshWallet(): void {
    if (this.#walletBlocks.length > this.#stub.blocks.length) return;
    this.#walletBlocks = [...this.#stub.blocks];
    for (const [txid] of this.#inWallet()) this.#walletSaw.add(txid);
  }

  /** Returns the heights of payments in the wallet's blocks. */
  #inWallet(): Map<string, number> {
    const heights = new Map(this.#walletBlocks.map(({ hash }, height) => [hash, height]));
    const found = [...this.#chain].flatMap(([txid, at]): [string, number][] => {
      const height = at === null ? undefined : heights.get(at);
      return height === undefined ? [] : [[txid, height]];
    });
    return new Map(found);
  }

  /** Updates the responses of wallet and node. */
  #updateStub(): void {
    this.#stub.walletHeight = this.#walletBlocks.length - 1;
    const inWallet = this.#inWallet();
    this.#stub.transfers = [...this.#paid.values()].flatMap((payment) => {
      const height = inWallet.get(payment.txid);
      if (height !== undefined) return { ...payment, height };
      const isWaiting = this.#chain.get(payment.txid) === null && !this.#walletSaw.has(payment.txid);
      return isWaiting ? { ...payment, height: null } : [];
    });
    const heights = new Map(this.#stub.blocks.map(({ hash }, height) => [hash, height]));
    for (const txid of this.#paid.keys()) {
      const at = this.#chain.get(txid);
      const place = at === undefined ? 'nowhere' : at === null ? null : (heights.get(at) ?? 'nowhere');
      this.#stub.locations.set(txid, place);
    }
  }

  /** Polls like the settlement engine, and rechecks unfinished payments that the poll doesn't report. */
  async poll(): Promise<void> {
    try {
      const { cursor, observations } = await this.#driver.poll({ cursor: this.#cursor });
      const polledKeys = new Set(observations.map(({ key }) => key));
      const unreported = [...this.#observed.values()].filter(({ key, state }) => {
        const mayChange = state === 'mempool' || (state === 'included' && cursor !== this.#cursor);
        return mayChange && !polledKeys.has(key);
      });
      const rechecked = await this.#driver.recheck(unreported.map(({ key }) => key));
      for (const each of [...observations, ...rechecked]) {
        this.#observed.set(each.key, each);
        this.#observedIn.add(`${each.txid} ${each.blockHash}`);
      }
      this.#cursor = cursor;
    } catch (error) {
      if (!(error instanceof NodeBehind || error instanceof WalletBehind)) throw error;
      return;
    }
    this.requireMatch();
  }

  requireMatch(): void {
    const tip = this.#stub.height;
    const heights = new Map(this.#stub.blocks.map(({ hash }, height) => [hash, height]));
    for (const [txid, { minor }] of this.#paid) {
      const at = this.#chain.get(txid);
      const observed = this.#observed.get(`${txid}:${minor}`);
      const height = at ? heights.get(at) : undefined;
      if (height === undefined) {
        // A payment that came and went between polls need not be reported.
        if (observed && at === undefined) assert.equal(observed.state, 'removed');
        // The wallet doesn't list a payment that returns to the pool, so it is only seen in its next block.
        const isHidden = observed?.state === 'removed' && this.#walletSaw.has(txid);
        if (observed && at === null && !isHidden) assert.equal(observed.state, 'mempool');
        // A payment that was observed in a block is not removed because a restored node lacks that block.
        if (at && this.#observedIn.has(`${txid} ${at}`)) assert.notEqual(observed?.state, 'removed');
        continue;
      }
      const confirmations = tip - height + 1;
      assert.equal(observed?.blockHash, at);
      assert.equal(observed?.state, confirmations >= 60 ? 'final' : 'included');
      if (observed?.state === 'included') assert.equal(observed.confirmations, confirmations);
      assert.equal(observed?.agreed, true);
    }
  }

  /** Confirms every payment deeply. */
  async finish(): Promise<void> {
    this.#mine(61);
    await this.poll();
    this.requireMatch();
  }
}

let stub: MoneroStub;
before(async () => {
  stub = await MoneroStub.start();
});
after(() => stub.close());

test('Monero observations match the chain after any script', async (t) => {
  const scripts = fc.array(step, { minLength: 5, maxLength: 30 });
  const property = fc.asyncProperty(scripts, async (steps) => {
    const script = new Script(stub);
    for (const each of steps) await script.run(each);
    await script.finish();
  });
  await fc.assert(property, seededRuns(t, PROPERTY_RUNS));
});
