/** The money of resizes, for random prices, cycles, and moments. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { cyclePriceCents } from '../../../../src/domain/servers/billing/price.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { addMonths, DAY_MS } from '../../../../src/kernel/time.ts';
import { CYCLE_MONTHS, type CycleMonths } from '../../../../src/spec/limits.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import { byLevel, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { QuotesWorld } from '../../billing/quotes/quotes-world.ts';

const RUNS = PROPERTY_RUNS * byLevel({ sample: 1, full: 5, soak: 50 });
const PLANS = ['s1', 's2', 's3'] as const;
const FUNDS_CENTS = 100_000_000n;

let quotes: QuotesWorld;
before(async () => {
  quotes = await QuotesWorld.open();
});
after(() => quotes.world.close());

const priceCents = fc.oneof(fc.integer({ min: 1, max: 199 }), fc.integer({ min: 200, max: 999_999 }));
const start = fc.record({
  atMs: fc.integer({ min: Date.UTC(2030, 0), max: Date.UTC(2045, 0) }),
  /** Of s1, s2, and s3. */
  prices: fc.array(priceCents, { minLength: 3, maxLength: 3 }),
  months: fc.constantFrom(...CYCLE_MONTHS),
  /** The part of the cycle that has passed. */
  part: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.999_999, noNaN: true })),
});
type Start = typeof start extends fc.Arbitrary<infer T> ? T : never;

/** Returns a running server on s1 in the middle of its first cycle. */
async function begin({ atMs, prices, months, part }: Start): Promise<Server> {
  await quotes.clear();
  if ((await quotes.balance()) < FUNDS_CENTS) await quotes.pay(10n * FUNDS_CENTS);
  quotes.world.clock.moveTo(new Date(atMs));
  for (const [n, plan] of PLANS.entries()) await quotes.setPrice(BigInt(prices[n] ?? 1), plan);
  const server = await quotes.create({ billing_months: months, auto_renew: false });
  await quotes.install(server.id);
  quotes.world.clock.moveTo(new Date(atMs + Math.floor(cycleMs(atMs, months) * part)));
  return server;
}

function cycleMs(atMs: number, months: number): number {
  const from = new Date(atMs);
  return addMonths(from, months, from.getUTCDate()).getTime() - atMs;
}

/** Resizes to each of the plans in turn, now, and returns what all of it cost. */
async function costOf(server: Server, plans: readonly string[]): Promise<bigint> {
  const before = await quotes.balance();
  for (const plan of plans) await quotes.resize(server.id, { plan });
  return before - (await quotes.balance());
}

describe('the money of resizes', () => {
  it('going to other plans and back at once costs at most a cent a step', async (t) => {
    const there = fc.shuffledSubarray(['s2', 's3'], { minLength: 1 });
    await fc.assert(
      fc.asyncProperty(start, there, async (begun, plans) => {
        const cost = await costOf(await begin(begun), [...plans, 's1']);
        assert.ok(0n <= cost && cost <= BigInt(plans.length + 1), `costs ${cost} cents`);
      }),
      seededRuns(t, RUNS),
    );
  });

  it('several steps to a plan at once cost as much as one step', async (t) => {
    const steps = fc.constantFrom(['s2', 's3'], ['s3', 's2'], ['s3', 's2', 's3'], ['s2', 's3', 's2']);
    await fc.assert(
      fc.asyncProperty(start, steps, async (begun, plans) => {
        const server = await begin(begun);
        const params = { plan: plans.at(-1), restart: true };
        const { totalCents, creditCents } = await quotes.quote('server.resize', {
          resource: server.id,
          params,
        });
        assert.equal(await costOf(server, plans), totalCents - creditCents);
      }),
      seededRuns(t, RUNS),
    );
  });

  it('resizes cost as much as the time on each plan, and never return more than was paid', async (t) => {
    const walk = fc.array(
      fc.record({ plan: fc.constantFrom(...PLANS), waits: fc.double({ min: 0, max: 0.9, noNaN: true }) }),
      { minLength: 1, maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(start, walk, async (begun, steps) => {
        const first = await quotes.balance();
        const server = await begin({ ...begun, part: 0 });
        const { clock } = quotes.world;
        const lengthMs = BigInt(cycleMs(begun.atMs, begun.months));
        const endMs = BigInt(begun.atMs) + lengthMs;
        const cycle = (plan: string) =>
          cyclePriceCents(
            BigInt(begun.prices[PLANS.indexOf(plan as 's1')] ?? 1),
            begun.months as CycleMonths,
          );
        let [plan, sinceMs, worth, count] = ['s1', BigInt(begun.atMs), 0n, 0n];
        const gift = (await quotes.balance()) + cycle('s1') - first;
        for (const step of steps) {
          const now = BigInt(clock.now().getTime());
          clock.moveTo(new Date(Number(now) + Math.floor(Number(endMs - now) * step.waits)));
          if (step.plan === plan) continue;
          const at = BigInt(clock.now().getTime());
          worth += cycle(plan) * (at - sinceMs);
          await quotes.resize(server.id, { plan: step.plan });
          [plan, sinceMs, count] = [step.plan, at, count + 1n];
          const paid = first + gift - (await quotes.balance());
          const rest = cycle(plan) * (endMs - at);
          assert.ok(paid >= 0n, 'more credit than was paid');
          assert.ok(paid * lengthMs >= worth + rest, 'paid less than it is worth');
          assert.ok(paid * lengthMs <= worth + rest + 2n * count * lengthMs, 'paid too much');
        }
      }),
      seededRuns(t, RUNS),
    );
  });

  it('a plan that becomes dearer costs its new price only from a resize on', async () => {
    const months = 1 as CycleMonths;
    const atMs = Date.UTC(2031, 3, 1);
    const server = await begin({ atMs, prices: [500, 1000, 1500], months, part: 0.5 });
    await quotes.setPrice(900n);
    assert.equal(await costOf(server, ['s2']), 250n);
    // Back to s1 at its price of today, which the next cycle costs as well.
    assert.equal(await costOf(server, ['s1']), -50n);
    assert.equal((await quotes.quote('server.start', { resource: server.id })).price?.renewal, null);
  });

  it('a price announced before a resize does not change the price of the resized server', async () => {
    const atMs = Date.UTC(2032, 3, 1);
    const server = await begin({ atMs, prices: [500, 1000, 1500], months: 3, part: 0 });
    const { clock, db, service } = quotes.world;
    await patchServer(service, quotes.actor, server.id, { auto_renew: true });
    clock.moveTo(new Date(atMs + DAY_MS));
    await quotes.announce(9900n, new Date(atMs + 40 * DAY_MS));
    await db.run(`update price_changes set plan_id = 's2'`);
    clock.moveTo(new Date(atMs + 2 * DAY_MS));
    const resized = await quotes.resize(server.id, { plan: 's2' });
    const before = await quotes.balance();
    clock.moveTo(new Date(new Date(resized.paid_until).getTime() + 1000));
    await quotes.bill();
    assert.equal(before - (await quotes.balance()), 2250n);
  });
});
