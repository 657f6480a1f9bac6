/** Chain scripts against a plain model: whatever chains do, what is credited is what stands, once. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { bonusCents } from '../../src/domain/topups/amount.ts';
import { cancelTopup } from '../../src/domain/topups/cancel.ts';
import { verify } from '../../src/domain/verify/verify.ts';
import { Failure } from '../../src/kernel/fail.ts';
import { confirmationsNeeded } from '../../src/spec/coins.ts';
import type { TopupStatus } from '../../src/spec/states.ts';
import type { TopupRow } from '../../src/store/topups.ts';
import { expireTopupsDuty } from '../../src/workers/expire-topups.ts';
import { RUNS } from '../support/runs.ts';
import { ScriptedChain } from '../support/scripted-chain.ts';
import { TopupWorld } from '../support/topup-world.ts';

/** Locked at 50,000 dollars a coin, found late at 40,000: whole numbers of units make a cent. */
const LOCKED_UNITS_PER_CENT = 20n;
const LATE_UNITS_PER_CENT = 25n;

type Step =
  | { readonly do: 'pay'; readonly perMille: number }
  | { readonly do: 'dust'; readonly units: number }
  | { readonly do: 'mine'; readonly blocks: number }
  | { readonly do: 'reorg'; readonly depth: number; readonly drop: boolean }
  | { readonly do: 'replace' | 'forget'; readonly which: number }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'look' | 'cancel' | 'echo' | 'rewind' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('pay'),
      perMille: fc.constantFrom(300, 500, 994, 996, 1000, 1600),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('dust'), units: fc.integer({ min: 1, max: 45 }) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('mine'), blocks: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('reorg'),
      depth: fc.integer({ min: 1, max: 5 }),
      drop: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('replace', 'forget'), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait'), minutes: fc.constantFrom(10, 70, 250) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('look') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancel', 'echo', 'rewind') }) },
) as fc.Arbitrary<Step>;

/** One payment as the model remembers it. */
interface Paid {
  readonly units: bigint;
  counted: boolean;
  /** Whether it ever counted: one that left the chain may return. */
  everCounted: boolean;
  block: string | null;
}

class Script {
  readonly world: TopupWorld;
  readonly topup: TopupRow;
  readonly chain: ScriptedChain;
  readonly paid = new Map<string, Paid>();
  cancelled = false;

  constructor(world: TopupWorld, topup: TopupRow, chain: ScriptedChain) {
    this.world = world;
    this.topup = topup;
    this.chain = chain;
  }

  async run(step: Step): Promise<void> {
    const { chain, topup } = this;
    if (step.do === 'pay') this.pay((topup.deposit_units * BigInt(step.perMille)) / 1000n);
    if (step.do === 'dust') this.pay(BigInt(step.units));
    if (step.do === 'mine') chain.mine(step.blocks);
    if (step.do === 'reorg') chain.reorg(step.depth, { drop: step.drop });
    if (step.do === 'replace') chain.replace(this.key(step.which));
    if (step.do === 'forget') chain.forget(this.key(step.which));
    if (step.do === 'wait') this.world.clock.advanceMinutes(step.minutes);
    if (step.do === 'echo') chain.echoes = !chain.echoes;
    if (step.do === 'look') await this.look();
    if (step.do === 'cancel') await this.cancel();
    if (step.do === 'rewind') {
      chain.rewindNode(2);
      await this.look();
      chain.resyncNode();
    }
  }

  pay(units: bigint): void {
    const key = this.chain.pay(this.topup.deposit_address, units);
    this.paid.set(key, { units, counted: false, everCounted: false, block: null });
  }

  key(which: number): string {
    return [...this.paid.keys()][which] ?? '';
  }

  async cancel(): Promise<void> {
    const actor = { ...(await this.world.customer()), customerId: this.topup.customer_id };
    try {
      await cancelTopup(this.world.service, actor, this.topup.order_ref);
      this.cancelled = true;
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_cancellable')) throw error;
    }
  }

  /** Lets the service look at the chain, then compares it with the model. */
  async look(): Promise<void> {
    await this.world.settle();
    await expireTopupsDuty(this.world.service).run();
    const expected = this.expect();
    const row = await this.world.topup(this.topup);
    assert.equal(row.credited_cents, expected.cents);
    assert.equal(row.bonus_paid_cents, bonusCents(expected.cents));
    assert.ok(expected.statuses.includes(row.status), `${row.status}, not ${expected.statuses}`);
    const entries = await this.world.entries(this.topup);
    const booked = entries.reduce((sum, entry) => sum + entry.cents, 0n);
    assert.equal(booked, expected.cents + bonusCents(expected.cents));
    assert.equal(await this.world.balance(this.topup), booked);
    await this.assertOneLiveCreditEach();
  }

  async assertOneLiveCreditEach(): Promise<void> {
    const live = await this.world.db.rows<{ key: string }>(
      `select split_part(fact, ':', 3) as key from transfers credited
        where resource_id = $1 and type = 'topup'
          and not exists (select 1 from transfers back where back.reverses = credited.id)`,
      [this.topup.id],
    );
    assert.equal(new Set(live.map((row) => row.key)).size, live.length);
  }

  /** What the service must have made of the chain as it is now. */
  expect(): { cents: bigint; statuses: TopupStatus[] } {
    const seen = [...this.paid].map(([key, paid]) => ({ paid, at: this.chain.observe(key) }));
    const arrived = seen.filter(({ at }) => at.state !== 'removed' && at.state !== 'conflicted');
    const arrivedCents = this.worth(arrived);
    const required = confirmationsNeeded('BTC', max(arrivedCents, this.topup.amount_cents));
    for (const { paid, at } of seen) {
      const stays = paid.counted && at.confirmations > 0 && at.blockHash === paid.block;
      paid.counted = stays || at.confirmations >= required;
      paid.everCounted ||= paid.counted;
      paid.block = at.blockHash;
    }
    const cents = this.worth(seen.filter(({ paid }) => paid.counted));
    const over = this.cancelled || this.world.clock.now() >= this.topup.expires_at;
    if (arrivedCents > cents) return { cents, statuses: ['confirming'] };
    if (cents > 0n) return { cents, statuses: ['credited'] };
    const rest = over ? 'expired' : 'pending';
    // Dust that counted was no credit, so nothing is waited for: the model does not tell them apart.
    const left = seen.some(({ paid, at }) => paid.everCounted && at.state === 'removed');
    return { cents, statuses: left ? ['confirming', rest] : [rest] };
  }

  worth(payments: readonly { paid: Paid; at: { blockTime: Date | null } }[]): bigint {
    const lateFrom = this.topup.expires_at.getTime() + 3 * 3_600_000;
    let inTime = 0n;
    let cents = 0n;
    for (const { paid, at } of payments) {
      if (at.blockTime && at.blockTime.getTime() > lateFrom) cents += paid.units / LATE_UNITS_PER_CENT;
      else inTime += paid.units;
    }
    const asked = this.topup.deposit_units;
    if (inTime <= asked && inTime >= (asked * 995n) / 1000n) return cents + this.topup.amount_cents;
    return cents + inTime / LOCKED_UNITS_PER_CENT;
  }
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

let world: TopupWorld;
before(async () => {
  world = await TopupWorld.start();
});
after(() => world.close());

test('after any script of a chain, what is credited is what stands, once', async () => {
  const script = fc.record({
    usd: fc.constantFrom(30, 100, 1_000, 6_000),
    steps: fc.array(step, { minLength: 3, maxLength: 30 }),
  });
  await fc.assert(
    fc.asyncProperty(script, async ({ usd, steps }) => {
      const chain = new ScriptedChain('BTC', world.clock);
      world.chains.set('BTC', chain);
      world.rates.set('BTC', '50000');
      const running = new Script(world, await world.invoice(usd), chain);
      world.rates.set('BTC', '40000');
      for (const each of steps) await running.run(each);
      await running.look();
      chain.mine(45);
      await running.look();
    }),
    { numRuns: RUNS },
  );
  const broken = (await verify(world.service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
