/**
 * Runs a chain script next to a plain model of the expected credits: every output once, while it is valid.
 */
import assert from 'node:assert/strict';
import { cancelTopup } from '../../../../src/domain/topups/end.ts';
import { bonusCents } from '../../../../src/domain/topups/offer.ts';
import { CrossCheckedChain } from '../../../../src/drivers/chain/cross-checked.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import type { Observation } from '../../../../src/ports/chain.ts';
import { getCoin as coinOf, confirmationsNeeded } from '../../../../src/spec/coins.ts';
import type { TopupStatus } from '../../../../src/spec/states.ts';
import type { TopupRow } from '../../../../src/store/topups/topups.ts';
import { expireTopupsJob } from '../../../../src/workers/expire-topups.ts';
import type { ChainScript, ReorgStep, Step } from '../../../support/chain-script.ts';
import { ScriptedChain } from '../../../support/scripted-chain.ts';
import { ScriptedSecondNode } from '../../../support/scripted-second-node.ts';
import type { TopupWorld } from '../../../support/topup-world.ts';

/** Dollars per coin, locked and late. Whole numbers of units make a cent. */
const LOCKED_USD = 50_000n;
const LATE_USD = 40_000n;
/** The deepest reorg. */
const FINAL_DEPTH = 40;
const LATE_AFTER_MS = 3 * 3_600_000;

/** A payment in the model. */
interface ModelPayment {
  readonly units: bigint;
  /** Whether the service can know about it. */
  seen: boolean;
  counted: boolean;
  /** Whether it ever counted, so that it may return after leaving the chain. */
  everCounted: boolean;
  block: string | null;
  includedAt: Date | null;
  /** Whether it was late while a rate was available. */
  priced: boolean;
}

interface ObservedPayment {
  readonly paid: ModelPayment;
  readonly at: Observation;
}

/** Counters of a run. */
export interface Tally {
  credited: number;
  reversed: number;
  behind: number;
}

export class ScriptRunner {
  readonly tally: Tally = { credited: 0, reversed: 0, behind: 0 };
  readonly #world: TopupWorld;
  readonly #script: ChainScript;
  readonly #topup: TopupRow;
  readonly #chain: ScriptedChain;
  readonly #witness: ScriptedSecondNode | null;
  readonly #paid = new Map<string, ModelPayment>();
  #cancelled = false;
  #checkedAt: Date | null = null;
  #readHeight = 0;

  private constructor(world: TopupWorld, script: ChainScript, chain: ScriptedChain, topup: TopupRow) {
    this.#world = world;
    this.#script = script;
    this.#topup = topup;
    this.#chain = chain;
    this.#witness = script.hasSecondNode ? new ScriptedSecondNode(chain) : null;
    world.chains.set(script.coin, this.#witness ? new CrossCheckedChain(chain, this.#witness) : chain);
    this.#quote();
  }

  /** Starts on a new chain that was never read. */
  static async start(world: TopupWorld, script: ChainScript): Promise<ScriptRunner> {
    const chain = new ScriptedChain(script.coin, world.clock);
    chain.terse = script.terse;
    chain.reportsBlockTime = script.reportsBlockTime;
    chain.pollBlocks = script.pollBlocks ?? Number.POSITIVE_INFINITY;
    world.chains.clear();
    world.chains.set(script.coin, chain);
    world.rates.set(script.coin, String(LOCKED_USD));
    const topup = await world.createInvoice(script.usd, script.coin);
    await world.db.run('update coins set cursor = null, read_at = null, failures = 0, retry_at = null');
    return new ScriptRunner(world, script, chain, topup);
  }

  async run(): Promise<void> {
    for (const step of this.#script.steps) await this.#runStep(step);
    await this.#checkAgainstModel();
    this.#quote();
    // The second node catches up without a new block.
    this.#witness?.repair();
    await this.#checkAgainstModel();
    this.#chain.mine(45);
    await this.#checkAgainstModel();
  }

  async #runStep(step: Step): Promise<void> {
    const chain = this.#chain;
    const key = 'which' in step ? ([...this.#paid.keys()][step.which] ?? '') : '';
    if (step.do === 'pay') this.#pay((this.#topup.deposit_units * BigInt(step.perMille)) / 1000n);
    if (step.do === 'dust') this.#pay((this.#unitsPerCent(LOCKED_USD) * BigInt(step.twentieths)) / 20n);
    if (step.do === 'mine') chain.mine(step.deep ? this.#needed - 2 + step.blocks : step.blocks);
    if (step.do === 'reorg' || step.do === 'fork' || step.do === 'lose_blocks') await this.#branch(step);
    if (step.do === 'rewind') await this.#putBack(step.depth);
    if (step.do === 'finalize') chain.mine(45);
    if (step.do === 'replace') chain.replace(key);
    if (step.do === 'forget') chain.forget(key);
    if (step.do === 'hide_payment' && this.#paid.get(key)?.seen) chain.hiddenKeys.add(key);
    if (step.do === 'miss_payment') this.#witness?.missingKeys.add(key);
    if (step.do === 'freeze') this.#witness?.freeze(this.#paid.keys());
    if (step.do === 'lag' && this.#witness) this.#witness.lagBlocks = step.blocks;
    if (step.do === 'stop_responding' && this.#witness) this.#witness.unresponsive = true;
    if (step.do === 'repair') this.#witness?.repair();
    if (step.do === 'drop_rate') this.#world.rates.delete(this.#script.coin);
    if (step.do === 'restore_rate') this.#quote();
    if (step.do === 'wait') this.#world.clock.advanceMinutes(step.minutes);
    if (step.do === 'fail') Object.assign(chain.failures, { poll: step.times, recheck: step.times });
    if (step.do === 'duplicate') chain.duplicatesObservations = !chain.duplicatesObservations;
    if (step.do === 'cancel') await this.#cancel();
    if (step.do === 'check') await this.#checkAgainstModel();
  }

  #quote(): void {
    this.#world.rates.set(this.#script.coin, String(LATE_USD));
  }

  /** Returns the confirmations that the invoice needs now. */
  get #needed(): number {
    return confirmationsNeeded(this.#script.coin, this.#topup.amount_cents);
  }

  #pay(units: bigint): void {
    const key = this.#chain.pay(this.#topup.deposit_address, units);
    const unseen = { seen: false, counted: false, everCounted: false, priced: false };
    this.#paid.set(key, { units, ...unseen, block: null, includedAt: null });
  }

  async #branch(step: ReorgStep): Promise<void> {
    const depth = step.deep ? Math.max(1, this.#newestDepth() - 3 + step.depth) : step.depth;
    const chain = this.#chain;
    if (step.do === 'lose_blocks') {
      chain.loseBlocks(depth, step);
      await this.#checkWhileBehind();
    } else chain.reorg(depth, step);
    if (step.do === 'reorg') return;
    if (step.late) chain.mineEmpty(depth);
    chain.mine(step.late ? 1 : depth + 1);
  }

  /** Returns the depth of the newest payment in a block. */
  #newestDepth(): number {
    const depths = [...this.#paid.keys()].map((key) => this.#chain.observe(key).confirmations);
    return Math.min(...depths.filter((depth) => depth > 0), FINAL_DEPTH);
  }

  async #putBack(depth: number): Promise<void> {
    this.#chain.rewind(depth);
    await this.#checkWhileBehind();
    this.#chain.mine();
    this.#chain.resync();
  }

  async #cancel(): Promise<void> {
    const actor = { ...(await this.#world.createCustomer()), customerId: this.#topup.customer_id };
    try {
      await cancelTopup(this.#world.service, actor, this.#topup.order_ref);
      this.#cancelled = true;
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_cancellable')) throw error;
    }
  }

  /** Polls a node that fell back. Nothing may change while it is below the last height read. */
  async #checkWhileBehind(): Promise<void> {
    if (!this.#chain.isBehind(this.#readHeight)) return await this.#checkAgainstModel();
    const before = await this.#world.ledgerEntries(this.#topup);
    for (let n = 0; n < 2; n++) {
      await this.#world.watchJob.run();
      await this.#world.db.run('update coins set retry_at = null');
    }
    assert.deepEqual(await this.#world.ledgerEntries(this.#topup), before);
    const [coin] = await this.#world.db.rows<{ failures: number }>(
      'select failures from coins where code = $1',
      [this.#script.coin],
    );
    assert.ok(coin && coin.failures > 0);
    this.tally.behind += 1;
  }

  /** Lets the service poll the chain, then compares it with the model. */
  async #checkAgainstModel(): Promise<void> {
    await this.#world.runUntilIdle();
    await expireTopupsJob(this.#world.service).run();
    const expected = this.#expect();
    this.#checkedAt = this.#world.clock.now();
    this.#readHeight = this.#chain.height;
    const row = await this.#world.reloadTopup(this.#topup);
    assert.equal(row.credited_cents, expected.cents);
    assert.equal(row.bonus_paid_cents, bonusCents(expected.cents));
    assert.ok(expected.statuses.includes(row.status), `${row.status}, not ${expected.statuses}`);
    const entries = await this.#world.ledgerEntries(this.#topup);
    const booked = entries.reduce((sum, entry) => sum + entry.cents, 0n);
    assert.equal(booked, expected.cents + bonusCents(expected.cents));
    assert.equal(await this.#world.balance(this.#topup), booked);
    this.tally.credited = entries.filter(({ type }) => type === 'topup').length;
    this.tally.reversed = entries.filter(({ type }) => type === 'reversal').length;
    await this.#assertOneLiveCreditEach();
  }

  async #assertOneLiveCreditEach(): Promise<void> {
    const live = await this.#world.db.rows<{ key: string }>(
      `select split_part(fact, ':', 3) as key from transfers credited
        where resource_id = $1 and type = 'topup'
          and not exists (select 1 from transfers back where back.reverses = credited.id)`,
      [this.#topup.id],
    );
    assert.equal(new Set(live.map((row) => row.key)).size, live.length);
  }

  /** Returns the expected result for the current chain. */
  #expect(): { cents: bigint; statuses: TopupStatus[] } {
    const seen = [...this.#paid].map(([key, paid]) => ({ paid, at: this.#chain.observe(key) }));
    const arrived = seen.filter(({ at }) => at.state !== 'removed' && at.state !== 'conflicted');
    for (const { paid, at } of seen) {
      const found =
        at.blockHash === paid.block ? paid.includedAt : (this.#checkedAt ?? this.#world.clock.now());
      paid.includedAt = at.blockHash === null ? null : (at.blockTime ?? found);
      paid.priced ||= this.#isLate(paid) && this.#world.rates.has(this.#script.coin);
    }
    const arrivedCents = this.#worth(arrived);
    const required = confirmationsNeeded(this.#script.coin, max(arrivedCents, this.#topup.amount_cents));
    for (const { paid, at } of seen) {
      const stays = paid.counted && at.confirmations > 0 && at.blockHash === paid.block;
      // In another block, a credit must be confirmed again. The second node is not asked.
      const moved = paid.counted && this.#reportedConfirmations(at) >= required;
      const waits = this.#isLate(paid) && !paid.priced;
      paid.counted = stays || moved || (this.#agreedConfirmations(at) >= required && !waits);
      paid.everCounted ||= paid.counted;
      paid.block = at.blockHash;
    }
    for (const { paid } of arrived) paid.seen = true;
    // The service does not query payments that are gone. They are reported when they return.
    for (const { at } of seen) if (at.blockHash === null) this.#chain.hiddenKeys.delete(at.key);
    const cents = this.#worth(seen.filter(({ paid }) => paid.counted));
    return { cents, statuses: this.#statuses(seen, cents, arrivedCents) };
  }

  /** Returns the confirmations on both nodes, if there are two. */
  #agreedConfirmations(at: Observation): number {
    return Math.min(at.confirmations, this.#witness?.confirmationsOf(at) ?? at.confirmations);
  }

  /** Returns the reported confirmations: those of the first node if the second lacks the payment. */
  #reportedConfirmations(at: Observation): number {
    return this.#agreedConfirmations(at) || at.confirmations;
  }

  #statuses(seen: readonly ObservedPayment[], cents: bigint, arrivedCents: bigint): TopupStatus[] {
    if (arrivedCents > cents) return ['confirming'];
    if (cents > 0n) return ['credited'];
    const over = this.#cancelled || this.#world.clock.now() >= this.#topup.expires_at;
    const rest = over ? 'expired' : 'pending';
    // Counted dust was not a credit, so it is not awaited. The model does not distinguish.
    const left = seen.some(({ paid, at }) => paid.everCounted && at.state === 'removed');
    return left ? ['confirming', rest] : [rest];
  }

  #worth(payments: readonly Pick<ObservedPayment, 'paid'>[]): bigint {
    let inTime = 0n;
    let cents = 0n;
    for (const { paid } of payments) {
      // Without its own rate, it counts as before.
      if (this.#isLate(paid) && paid.priced) cents += paid.units / this.#unitsPerCent(LATE_USD);
      else inTime += paid.units;
    }
    const asked = this.#topup.deposit_units;
    if (inTime <= asked && inTime * 1000n >= asked * 995n) return cents + this.#topup.amount_cents;
    return cents + inTime / this.#unitsPerCent(LOCKED_USD);
  }

  #isLate({ includedAt }: ModelPayment): boolean {
    const lateFrom = this.#topup.expires_at.getTime() + LATE_AFTER_MS;
    return includedAt !== null && includedAt.getTime() > lateFrom;
  }

  #unitsPerCent(usdPerCoin: bigint): bigint {
    return 10n ** BigInt(coinOf(this.#script.coin).decimals) / (usdPerCoin * 100n);
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
