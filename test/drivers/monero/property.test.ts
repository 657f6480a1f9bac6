/**
 * Whatever happens to the chain, to the node and to its wallet, and however rarely one looks: what was told is the chain's truth.
 * The wallet does as real ones do: it keeps its blocks until its node has overtaken them, and shows nothing that came back into
 * the pool.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { WalletBehind } from '../../../src/drivers/chain/monero/consistent-reader.ts';
import type { MoneroChain } from '../../../src/drivers/chain/monero/driver.ts';
import { NodeBehind } from '../../../src/drivers/chain/node-behind.ts';
import type { Observation } from '../../../src/ports/chain.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { MoneroStub, type StubTransfer } from './monero-stub.ts';

type Step =
  | { readonly do: 'pay'; readonly minor: number }
  | { readonly do: 'mine'; readonly count: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly drop: boolean }
  | { readonly do: 'return' }
  | { readonly do: 'put back'; readonly depth: number }
  | { readonly do: 'catch up' }
  | { readonly do: 'wallet loses'; readonly depth: number }
  | { readonly do: 'start again' }
  | { readonly do: 'look' };

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
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'return' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('put back' as const), depth: few }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'catch up' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wallet loses' as const), depth: few }) },
  { weight: 1, arbitrary: fc.constant<Step>({ do: 'start again' }) },
  { weight: 6, arbitrary: fc.constant<Step>({ do: 'look' }) },
);

const FIRST_BLOCKS = 101;

class Script {
  readonly #stub: MoneroStub;
  readonly #paid = new Map<string, StubTransfer>();
  /** Of each payment: in which block the chain has it, by the block's hash; null: in the pool; left out: nowhere. */
  readonly #chain = new Map<string, string | null>();
  /** The node's blocks that it does not have now. */
  #unread: MoneroStub['blocks'] = [];
  /** What the wallet has read: its blocks, and what it has once seen in one of them. */
  #walletBlocks: MoneroStub['blocks'] = [];
  readonly #walletSaw = new Set<string>();
  #driver: MoneroChain;
  #cursor: string | null = null;
  readonly #told = new Map<string, Observation>();
  /** Transactions and the blocks that they were told from. */
  readonly #toldFrom = new Set<string>();

  constructor(stub: MoneroStub) {
    this.#stub = stub;
    stub.blocks.splice(FIRST_BLOCKS);
    stub.refreshes = false;
    stub.transfers = [];
    stub.locations.clear();
    stub.beforeAnswer = (method) => {
      if (method === 'refresh') this.#refreshWallet();
      this.#show();
    };
    this.#driver = stub.driver();
  }

  async run(step: Step): Promise<void> {
    const { blocks } = this.#stub;
    if (step.do === 'pay') this.#pay(step.minor);
    else if (step.do === 'mine') this.#mine(step.count);
    else if (step.do === 'reorg') this.#reorg(step.depth, step.drop);
    else if (step.do === 'return') this.#return();
    else if (step.do === 'put back')
      this.#unread.unshift(...blocks.splice(Math.max(1, blocks.length - step.depth)));
    else if (step.do === 'catch up') this.#catchUp();
    else if (step.do === 'wallet loses') this.#walletBlocks.splice(-step.depth);
    else if (step.do === 'start again') this.#driver = this.#stub.driver();
    else await this.look();
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

  /** The other branch is longer by one block. */
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
    // Those blocks were found before anybody knew of the payments.
    this.#stub.mine(lost.size + 1);
  }

  /** What was dropped is sent again. */
  #return(): void {
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

  /** Where the wallet's blocks have what the chain has. */
  #inWallet(): Map<string, number> {
    const heights = new Map(this.#walletBlocks.map(({ hash }, height) => [hash, height]));
    const found = [...this.#chain].flatMap(([txid, at]): [string, number][] => {
      const height = at === null ? undefined : heights.get(at);
      return height === undefined ? [] : [[txid, height]];
    });
    return new Map(found);
  }

  /** Both answer by what they have now. */
  #show(): void {
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

  /** As the settlement engine looks: what a poll does not mention of what is unfinished is asked for. */
  async look(): Promise<void> {
    try {
      const { cursor, observations } = await this.#driver.poll({ cursor: this.#cursor });
      const told = new Set(observations.map(({ key }) => key));
      const silent = [...this.#told.values()].filter(({ key, state }) => {
        const mayChange = state === 'mempool' || (state === 'included' && cursor !== this.#cursor);
        return mayChange && !told.has(key);
      });
      const rechecked = await this.#driver.recheck(silent.map(({ key }) => key));
      for (const each of [...observations, ...rechecked]) {
        this.#told.set(each.key, each);
        this.#toldFrom.add(`${each.txid} ${each.blockHash}`);
      }
      this.#cursor = cursor;
    } catch (error) {
      if (!(error instanceof NodeBehind || error instanceof WalletBehind)) throw error;
      return;
    }
    this.requireTruth();
  }

  requireTruth(): void {
    const tip = this.#stub.height;
    const heights = new Map(this.#stub.blocks.map(({ hash }, height) => [hash, height]));
    for (const [txid, { minor }] of this.#paid) {
      const at = this.#chain.get(txid);
      const told = this.#told.get(`${txid}:${minor}`);
      const height = at ? heights.get(at) : undefined;
      if (height === undefined) {
        // What came and went while nobody looked need not be told.
        if (told && at === undefined) assert.equal(told.state, 'removed');
        // One that was told as removed and comes back into the pool is seen in its next block: the wallet does not show it.
        const isHidden = told?.state === 'removed' && this.#walletSaw.has(txid);
        if (told && at === null && !isHidden) assert.equal(told.state, 'mempool');
        // What a node that was put back does not have is not gone, once it was told from that block.
        if (at && this.#toldFrom.has(`${txid} ${at}`)) assert.notEqual(told?.state, 'removed');
        continue;
      }
      const confirmations = tip - height + 1;
      assert.equal(told?.blockHash, at);
      assert.equal(told?.state, confirmations >= 60 ? 'final' : 'included');
      if (told?.state === 'included') assert.equal(told.confirmations, confirmations);
      assert.equal(told?.agreed, true);
    }
  }

  /** In the end everything is in a block, and deep. */
  async finish(): Promise<void> {
    this.#mine(61);
    await this.look();
    this.requireTruth();
  }
}

let stub: MoneroStub;
before(async () => {
  stub = await MoneroStub.start();
});
after(() => stub.close());

test('what is told is what the chain has, whatever happened before', async (t) => {
  const scripts = fc.array(step, { minLength: 5, maxLength: 30 });
  const property = fc.asyncProperty(scripts, async (steps) => {
    const script = new Script(stub);
    for (const each of steps) await script.run(each);
    await script.finish();
  });
  await fc.assert(property, seededRuns(t, PROPERTY_RUNS));
});
