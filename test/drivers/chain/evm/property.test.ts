/** After any sequence of changes to a real chain, each invoice has exactly the payments of its address. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { FULL_ONLY, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import type { TopupWorld } from '../../../support/topup-world.ts';
import { Anvil, hex, NO_ANVIL, type TransactionTemplate } from './anvil.ts';
import { contract } from './contracts.ts';
import { EvmWorld } from './evm-world.ts';

const skip = NO_ANVIL || FULL_ONLY.skip;
const INVOICES = 3;
/** More confirmations than any payment here needs. */
const CONFIRMED = 30;
/** Deeper than the confirmations, but not deeper than blocks may change. */
const DEEPEST = 28;
const WAYS = ['plain', 'split', 'bequeath', 'carefully', 'payAndFail', 'byHeight'] as const;
const ACTS = ['pay', 'pay', 'pay', 'mine', 'mine', 'look', 'look', 'reorg', 'restart', 'putBack'] as const;

interface Act {
  readonly act: (typeof ACTS)[number];
  readonly n: number;
}

let anvil: Anvil;
let payer: string;

before(async () => {
  if (skip) return;
  // One account per payment, so that a reorganization can leave out any of them.
  anvil = await Anvil.start({ accounts: 40 });
  payer = await anvil.deploy(contract('Payer').bytecode);
  await anvil.mine(DEEPEST);
});

after(async () => {
  await anvil?.close();
});

/** Payments to a few invoices, on a chain that follows a script. */
class Script {
  readonly #evm: EvmWorld;
  readonly #topups: readonly TopupRow[];
  /** Transactions in each of the newest blocks, the newest last. */
  readonly #blocks: TransactionTemplate[][] = [];
  #waiting: TransactionTemplate[] = [];
  #paid = 0;

  constructor(evm: EvmWorld, topups: readonly TopupRow[]) {
    this.#evm = evm;
    this.#topups = topups;
  }

  async do(
    { act, n }: Act,
    look: (work: (world: TopupWorld) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    if (act === 'pay' && this.#paid < 30) await this.#pay(n);
    if (act === 'mine') await this.mine(1 + (n % 6));
    if (act === 'look') await look((world) => world.runUntilIdle());
    if (act === 'reorg') await this.#reorg(1 + (n % DEEPEST), n);
    if (act === 'restart') await this.#evm.withRestartedProcess((world) => world.runUntilIdle());
    if (act === 'putBack') await this.#putBack(1 + (n % 5), look);
  }

  async mine(count: number): Promise<void> {
    await anvil.mine(count);
    this.#blocks.push(this.#waiting, ...Array.from({ length: count - 1 }, () => []));
    this.#waiting = [];
  }

  async #pay(n: number): Promise<void> {
    const topup = this.#topups[n % INVOICES] ?? assert.fail();
    const from = anvil.account(5 + this.#paid++);
    const value = hex(topup.deposit_units / 2n + BigInt(n));
    const way = WAYS[n % WAYS.length] ?? 'plain';
    const to = topup.deposit_address;
    const data = way === 'plain' ? undefined : contract('Payer').call(way, way === 'split' ? [to, to] : to);
    const order = await anvil.prepare({ from, to: data ? payer : to, value, ...(data ? { data } : {}) });
    await anvil.send(order);
    this.#waiting.push(order);
  }

  /** Moves some transactions of the newest blocks to other blocks and drops the rest. */
  async #reorg(wanted: number, n: number): Promise<void> {
    const depth = Math.min(wanted, this.#blocks.length);
    if (depth === 0) return;
    const removed = this.#blocks.splice(this.#blocks.length - depth).flat();
    const kept = removed
      .filter((_, i) => (n + i) % 3 > 0)
      .map((order, i) => [order, (n + i) % depth] as const);
    await anvil.reorg(depth, kept);
    const blocks = Array.from({ length: depth }, (_, at) =>
      kept.filter(([, block]) => block === at).map(([order]) => order),
    );
    this.#blocks.push(...blocks);
  }

  /** Nothing may change until the new branch is as high as the old one. */
  async #putBack(
    wanted: number,
    look: (work: (world: TopupWorld) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const depth = Math.min(wanted, this.#blocks.length);
    if (depth === 0) return;
    await look((world) => world.runUntilIdle());
    const before = await this.#seen();
    await anvil.rollBack(depth);
    this.#blocks.splice(this.#blocks.length - depth);
    await look(async (world) => {
      for (let times = 0; times < 3; times++) await world.watchJob.run();
    });
    assert.deepEqual(await this.#seen(), before);
    await this.mine(depth + 1);
  }

  async #seen(): Promise<string[]> {
    return await Promise.all(this.#topups.map((topup) => this.#evm.summarize(topup)));
  }
}

it('each invoice ends with exactly the payments that its address received', { skip }, async (t) => {
  const acts = fc.array(fc.record<Act>({ act: fc.constantFrom(...ACTS), n: fc.nat({ max: 1_000 }) }), {
    minLength: 8,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(acts, async (script) => {
      const snapshot = await anvil.request('evm_snapshot');
      const evm = await EvmWorld.start(anvil);
      try {
        const topups = await Promise.all(Array.from({ length: INVOICES }, () => evm.invoice(100)));
        const player = new Script(evm, topups);
        for (const act of script) await player.do(act, (work) => work(evm.world));
        await player.mine(CONFIRMED);
        await evm.world.runUntilIdle();
        for (const topup of topups) {
          const wei = BigInt(await anvil.request<string>('eth_getBalance', topup.deposit_address, 'latest'));
          const deposits = await evm.world.deposits(topup);
          const included = deposits.filter(({ state }) => state === 'included' || state === 'final');
          assert.equal(
            included.map(({ amount_units }) => amount_units).reduce((a, b) => a + b, 0n),
            wei,
          );
          assert.ok(included.every(({ credited_cents }) => credited_cents !== null));
          const booked = (await evm.world.ledgerEntries(topup))
            .map(({ cents }) => cents)
            .reduce((a, b) => a + b, 0n);
          assert.equal(booked, await evm.world.balance(topup));
          assert.equal(booked > 0n, wei > 0n);
        }
      } finally {
        await evm.close();
        await anvil.request('evm_revert', snapshot);
      }
    }),
    seededRuns(t, Math.ceil(PROPERTY_RUNS / 20)),
  );
});
