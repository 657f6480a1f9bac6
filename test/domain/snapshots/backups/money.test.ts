/** The money of backups, for random prices, shares, cycles, and moments. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { charge } from '../../../../src/domain/ledger/transfer.ts';
import { cyclePriceCents } from '../../../../src/domain/servers/billing/price.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { getServer } from '../../../../src/domain/servers/read.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { getBackupPolicy } from '../../../../src/domain/snapshots/backups/policy.ts';
import { verify } from '../../../../src/domain/verify/verify.ts';
import { addMonths, DAY_MS } from '../../../../src/kernel/time.ts';
import { CYCLE_MONTHS, type CycleMonths } from '../../../../src/spec/limits.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import { byLevel, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { linesOf, QuotesWorld } from '../../billing/quotes/quotes-world.ts';
import { refused } from '../../servers/resize/resize-world.ts';

const RUNS = PROPERTY_RUNS * byLevel({ sample: 1, full: 5, soak: 50 });
const PLANS = ['s1', 's2'] as const;
const FUNDS_CENTS = 100_000_000n;

let quotes: QuotesWorld;
before(async () => {
  quotes = await QuotesWorld.open();
});
after(() => quotes.world.close());

interface Start {
  readonly atMs: number;
  readonly months: CycleMonths;
  /** Of s1 and s2. */
  readonly prices: readonly number[];
  readonly shares: readonly number[];
}

const priceCents = fc.oneof(fc.integer({ min: 1, max: 199 }), fc.integer({ min: 200, max: 999_999 }));
const start: fc.Arbitrary<Start> = fc.record({
  // Whole seconds, as `paid_until` shows them.
  atMs: fc.integer({ min: Date.UTC(2030, 0) / 1000, max: Date.UTC(2045, 0) / 1000 }).map((s) => s * 1000),
  months: fc.constantFrom(...CYCLE_MONTHS),
  prices: fc.array(priceCents, { minLength: 2, maxLength: 2 }),
  shares: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 2 }),
});

async function sell({ atMs, prices, shares }: Start): Promise<void> {
  await quotes.clear();
  quotes.world.clock.moveTo(new Date(atMs));
  if ((await quotes.balance()) < FUNDS_CENTS) await quotes.pay(10n * FUNDS_CENTS);
  for (const [n, plan] of PLANS.entries()) {
    await quotes.setPrice(BigInt(prices[n] ?? 1), plan);
    await quotes.setBackupShare(shares[n] ?? 0, plan);
  }
}

/** Returns a running server that was ordered now. */
async function begin(from: Start, backups = false): Promise<Server> {
  await sell(from);
  const options = backups ? { backups: {} } : {};
  const server = await quotes.create({ billing_months: from.months, auto_renew: false, ...options });
  await quotes.install(server.id);
  return server;
}

/** 10.00 and 20.00 a month, with backups for 20%, from 1 to 31 March. */
const SIMPLE: Start = { atMs: Date.UTC(2031, 2, 1), months: 1, prices: [1000, 2000], shares: [20, 10] };

function moveBy(ms: number): void {
  const { clock } = quotes.world;
  clock.moveTo(new Date(clock.now().getTime() + ms));
}

async function assertConsistent(): Promise<void> {
  const names = ['backups are priced', 'every server is paid for', 'refunds fit their charges'];
  const found = await verify(quotes.world.service);
  const broken = found.filter(({ invariant, broken: rows }) => names.includes(invariant.name) && rows > 0n);
  assert.deepEqual(broken, []);
}

const shareOf = (planCents: bigint, percent: number) => (planCents * BigInt(percent) + 99n) / 100n;

describe('the money of backups', () => {
  it('enabling, disabling, resizing, and renewing never leave more credit than was paid', async (t) => {
    const step = fc.record({
      what: fc.constantFrom('on', 'off', 's1', 's2', 'renew'),
      waits: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.9, noNaN: true })),
    });
    await fc.assert(
      fc.asyncProperty(
        start,
        fc.boolean(),
        fc.array(step, { maxLength: 7 }),
        async (from, ordered, steps) => {
          await sell(from);
          const first = await quotes.balance();
          const { clock } = quotes.world;
          const server = await begin(from, ordered);
          const { months } = from;
          const anchorDay = new Date(from.atMs).getUTCDate();
          let [plan, backups] = [0, ordered];
          let [startMs, endMs] = [from.atMs, Date.parse(server.paid_until)];
          // The worth of the time until now, in cents times the length of its cycle, rounded up each time.
          let [worth, sinceMs, count] = [0n, startMs, 1n];
          const price = () => {
            const cents = cyclePriceCents(BigInt(from.prices[plan] ?? 1), months);
            return cents + (backups ? shareOf(cents, from.shares[plan] ?? 0) : 0n);
          };
          const used = (untilMs: number) => (price() * BigInt(untilMs - sinceMs)) / BigInt(endMs - startMs);
          for (const { what, waits } of steps) {
            const now = clock.now().getTime();
            moveBy(Math.floor((endMs - now) * waits));
            worth += used(clock.now().getTime());
            sinceMs = clock.now().getTime();
            count += 1n;
            if (what === 'renew') {
              worth += used(endMs);
              await patchServer(quotes.world.service, quotes.actor, server.id, { auto_renew: true });
              clock.moveTo(new Date(endMs));
              await quotes.bill();
              await patchServer(quotes.world.service, quotes.actor, server.id, { auto_renew: false });
              startMs = endMs;
              sinceMs = startMs;
              endMs = addMonths(new Date(endMs), months, anchorDay).getTime();
            } else if (what === 'on' || what === 'off') {
              const { price_usd_now: usd } = await getBackupPolicy(
                quotes.world.service,
                quotes.actor,
                server.id,
              );
              const before = await quotes.balance();
              await quotes.setBackups(server.id, { enabled: what === 'on' });
              const cost = before - (await quotes.balance());
              if (what === 'on') assert.equal(cost, BigInt(Math.round(usd * 100)), 'not the shown price');
              else assert.ok(cost <= 0n, 'disabling costs something');
              backups = what === 'on';
            } else if (what !== PLANS[plan]) {
              await quotes.resize(server.id, { plan: what });
              plan = PLANS.indexOf(what);
            }
            const shown = await getServer(quotes.world.service, quotes.actor, server.id);
            assert.equal(Date.parse(shown.paid_until), endMs);
            assert.equal(BigInt(Math.round(shown.price_usd_cycle * 100)), price());
            const paid = first - (await quotes.balance());
            const rest = (price() * BigInt(endMs - sinceMs)) / BigInt(endMs - startMs);
            assert.ok(paid >= worth + rest - count, `paid ${paid} for ${worth + rest}`);
            assert.ok(paid <= worth + rest + 3n * count, `paid ${paid} for ${worth + rest}`);
            assert.ok(paid >= 0n, 'more credit than was paid');
          }
          await assertConsistent();
        },
      ),
      seededRuns(t, RUNS),
    );
  });

  it('a server that never ran returns exactly what was paid for it and its backups', async (t) => {
    const toggles = fc.array(fc.record({ on: fc.boolean(), waitMs: fc.integer({ min: 0, max: DAY_MS }) }), {
      maxLength: 4,
    });
    await fc.assert(
      fc.asyncProperty(start, fc.boolean(), toggles, async (from, ordered, steps) => {
        await sell(from);
        const first = await quotes.balance();
        const server = await quotes.create({
          billing_months: from.months,
          ...(ordered ? { backups: { every: 'day' } } : {}),
        });
        for (const { on, waitMs } of steps) {
          moveBy(waitMs);
          await quotes.setBackups(server.id, { enabled: on });
        }
        await destroyServer(quotes.world.service, quotes.actor, server.id);
        assert.equal(await quotes.balance(), first);
      }),
      seededRuns(t, RUNS),
    );
  });

  it('the quote of an order with backups is what the ledger books', async (t) => {
    await fc.assert(
      fc.asyncProperty(start, async (from) => {
        await sell(from);
        const params = { billing_months: from.months, backups: { every: 'day', keep: 3 } } as const;
        const body = { ...quotes.body, ...params };
        const { totalCents, price, refusal } = await quotes.quote('server.create', { params: body });
        assert.equal(refusal, null);
        const before = await quotes.balance();
        const server = await quotes.create(params);
        assert.equal(before - (await quotes.balance()), totalCents);
        assert.equal(BigInt(Math.round(server.price_usd_cycle * 100)), totalCents);
        assert.equal(price?.renewal?.cents, totalCents);
      }),
      seededRuns(t, RUNS),
    );
  });
});

describe('the price of backups', () => {
  it('is charged for the rest of the cycle, comes back when they are disabled, and renews', async () => {
    const server = await begin(SIMPLE);
    moveBy((31 * DAY_MS) / 2);
    const policy = await getBackupPolicy(quotes.world.service, quotes.actor, server.id);
    assert.deepEqual([policy.price_usd_cycle, policy.price_usd_now], [2, 1]);
    const text = 'Backups of s1 in par, until 2031-04-01';
    const enable = () => quotes.setBackups(server.id, { enabled: true });
    assert.deepEqual(await quotes.booked(enable), [{ description: text, amount_usd: 1 }]);
    // Already enabled, at another share: nothing changes.
    await quotes.setBackupShare(50);
    assert.deepEqual(await quotes.booked(enable), []);
    const disable = () => quotes.setBackups(server.id, { enabled: false });
    assert.deepEqual(await quotes.booked(disable), [{ description: text, amount_usd: -1 }]);
    await quotes.setBackupShare(20);
    await enable();
    await patchServer(quotes.world.service, quotes.actor, server.id, { auto_renew: true });
    quotes.world.clock.moveTo(new Date(Date.parse(server.paid_until) + 1000));
    assert.deepEqual(await quotes.booked(() => quotes.bill()), [
      { description: 's1 in par, 1 month, with backups', amount_usd: 12 },
    ]);
    await assertConsistent();
  });

  it('follows the plan of a resize and an announced price', async () => {
    const server = await begin({ ...SIMPLE, months: 3 }, true);
    assert.equal(server.price_usd_cycle, 27);
    const resized = await quotes.resize(server.id, { plan: 's2' });
    assert.equal(resized.price_usd_cycle, 49.5);
    const back = await quotes.resize(server.id, { plan: 's1' });
    assert.equal(back.price_usd_cycle, 27);
    moveBy(1000);
    await quotes.announce(1101n, new Date(SIMPLE.atMs + 40 * DAY_MS));
    await patchServer(quotes.world.service, quotes.actor, server.id, { auto_renew: true });
    quotes.world.clock.moveTo(new Date(server.paid_until));
    await quotes.bill();
    // 24.77 and a fifth of it, rounded up.
    const { price_usd_cycle: usd } = await getServer(quotes.world.service, quotes.actor, server.id);
    assert.equal(usd, 29.73);
    await assertConsistent();
  });

  it('is a line of the quote of an order and of a start', async () => {
    await sell(SIMPLE);
    const lines = [
      { description: 's1 in par, 1 month', amount_usd: 10 },
      { description: 'Backups', amount_usd: 2 },
    ];
    const params = { ...quotes.body, backups: {} };
    const quoted = await quotes.shown('server.create', { params });
    assert.deepEqual([linesOf(quoted), quoted.total_usd, quoted.renews_usd], [lines, 12, 12]);
    const off = await quotes.shown('server.create', { params: { ...params, backups: { enabled: false } } });
    assert.equal(off.total_usd, 10);
    const server = await begin(SIMPLE, true);
    quotes.world.clock.moveTo(new Date(server.paid_until));
    await quotes.bill();
    const started = await quotes.shown('server.start', { resource: server.id });
    assert.deepEqual([linesOf(started), started.total_usd], [lines, 12]);
  });

  it('of a server that waits for its next cycle is charged only then', async () => {
    const server = await begin(SIMPLE);
    quotes.world.clock.moveTo(new Date(server.paid_until));
    await quotes.bill();
    const enable = () => quotes.setBackups(server.id, { enabled: true });
    assert.deepEqual(await quotes.booked(enable), []);
    const started = await quotes.quote('server.start', { resource: server.id });
    assert.equal(started.totalCents, 1200n);
  });

  it('above the accepted one charges nothing, nor does a balance that is too low', async () => {
    const server = await begin(SIMPLE);
    const enable = (max_price_usd: number) => quotes.setBackups(server.id, { enabled: true, max_price_usd });
    assert.deepEqual(await refused(enable(1.99)), ['price_changed', 'max_price_usd']);
    const { customerId } = quotes.actor;
    const { db, clock } = quotes.world;
    const allBut199 = (await quotes.balance()) - 199n;
    const spent = { customerId, amountCents: allBut199, fact: 'spent', description: 'spent' };
    await charge(db, { ...spent, account: 'adjustments', type: 'adjustment' }, clock.now());
    assert.deepEqual(await refused(enable(2)), ['insufficient_balance', undefined]);
    assert.equal((await quotes.setBackups(server.id, { enabled: false })).enabled, false);
    await quotes.pay(1n);
    assert.equal((await enable(2)).enabled, true);
    assert.equal(await quotes.balance(), 0n);
  });
});
