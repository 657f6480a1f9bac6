/**
 * A quote is what the ledger says afterwards, to the cent: for random prices, cycles, and moments, of which
 * many end a month or leave half a cent.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { startServer } from '../../../../src/domain/servers/operations/power.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { DAY_MS } from '../../../../src/kernel/time.ts';
import { CYCLE_MONTHS, LIMITS } from '../../../../src/spec/limits.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import { byLevel, PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import { linesOf, QuotesWorld } from './quotes-world.ts';

/** `test:soak` runs 10,000 orders. */
const RUNS = PROPERTY_RUNS * byLevel({ sample: 1, full: 5, soak: 50 });
/** A script spends less. */
const FUNDS_CENTS = 100_000_000n;

let quotes: QuotesWorld;
before(async () => {
  quotes = await QuotesWorld.open();
});
after(() => quotes.world.close());

const monthEnd = fc
  .record({ year: fc.integer({ min: 2030, max: 2045 }), month: fc.integer({ min: 0, max: 11 }) })
  // The first millisecond of the next month, and the last ones of this one.
  .chain(({ year, month }) =>
    fc.integer({ min: 1, max: 3 * DAY_MS }).map((ms) => Date.UTC(year, month + 1) - ms),
  );
const anyTime = fc.integer({ min: Date.UTC(2030, 0), max: Date.UTC(2045, 0) });
const priceCents = fc.oneof(fc.integer({ min: 1, max: 199 }), fc.integer({ min: 200, max: 999_999 }));

const script = fc.record({
  atMs: fc.oneof(monthEnd, anyTime),
  monthCents: priceCents,
  months: fc.constantFrom(...CYCLE_MONTHS),
  renews: fc.boolean(),
  /** Announced a day later, and in effect so many days after that. */
  announced: fc.option(
    fc.record({ monthCents: priceCents, days: fc.integer({ min: LIMITS.priceNoticeDays, max: 400 }) }),
  ),
  /** To a plan with that price, after that part of the rest of the cycle. */
  resizes: fc.array(
    fc.record({
      plan: fc.constantFrom('s1', 's2', 's3'),
      monthCents: priceCents,
      part: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 0.99, noNaN: true })),
    }),
    { maxLength: 4 },
  ),
  end: fc.constantFrom('before it runs', 'after it runs', 'after a renewal', 'after a suspension'),
  /** How long a suspended server waits for its start. */
  waitMs: fc.integer({ min: 0, max: 13 * DAY_MS }),
});
type Script = typeof script extends fc.Arbitrary<infer T> ? T : never;

/** Does what was quoted, and compares the ledger and the balance with the quote. */
async function assertBooked(
  asked: Parameters<QuotesWorld['shown']>,
  work: (id: string) => Promise<Server>,
): Promise<Server> {
  const quoted = await quotes.shown(...asked);
  let server: Server | undefined;
  const entries = await quotes.booked(async () => {
    server = await work(quoted.id);
  });
  assert.deepEqual(linesOf(quoted), entries);
  const sum = entries.reduce((total, { amount_usd }) => total + Math.round(amount_usd * 100), 0);
  const { total_usd: total = 0, credit_usd: credit = 0, due_now_usd: due } = quoted;
  assert.equal(Math.round((total ?? 0) * 100) - Math.round((credit ?? 0) * 100), sum);
  assert.equal(due, Math.max(sum, 0) / 100);
  assert.equal(quoted.balance_after_usd, Number(await quotes.balance()) / 100);
  assert.ok(server);
  if (quoted.cycle_ends_at !== null) assert.equal(server.paid_until, quoted.cycle_ends_at);
  assert.equal(quoted.renews_at, server.auto_renew && quoted.cycle_ends_at ? server.paid_until : null);
  return server;
}

const order = async ({ months, renews }: Script) =>
  await assertBooked(
    ['server.create', { params: { plan: 's1', region: 'par', billing_months: months, auto_renew: renews } }],
    (id) => quotes.create({ billing_months: months, auto_renew: renews, quote: id }),
  );

const remove = async (server: Server) =>
  await assertBooked(['server.delete', { resource: server.id }], async () => {
    const before = await quotes.balance();
    const removed = await destroyServer(quotes.world.service, quotes.actor, server.id);
    assert.equal(removed.refund_usd, Number((await quotes.balance()) - before) / 100);
    return removed;
  });

/** Ends the cycle, and lets the server be suspended because it is not renewed. Then starts it. */
async function resume(server: Server, { renews, waitMs }: Script): Promise<Server> {
  const { service, clock } = quotes.world;
  await patchServer(service, quotes.actor, server.id, { auto_renew: false });
  clock.moveTo(endOf(server.paid_until));
  await quotes.bill();
  await quotes.endOperation(server.id);
  clock.moveTo(new Date(clock.now().getTime() + waitMs));
  // It stays suspended until it is started.
  await patchServer(service, quotes.actor, server.id, { auto_renew: renews });
  const started = await assertBooked(['server.start', { resource: server.id }], (id) =>
    startServer(service, quotes.actor, server.id, { quote: id }),
  );
  await quotes.powerOn(server.id);
  return started;
}

/** Resizes the server some times in its cycle. The plan that it has is refused, and its price then stays. */
async function resizeOften(server: Server, { resizes }: Script): Promise<Server> {
  const { clock } = quotes.world;
  let seen = server;
  for (const { plan, monthCents, part } of resizes) {
    const leftMs = new Date(seen.paid_until).getTime() - clock.now().getTime();
    clock.moveTo(new Date(clock.now().getTime() + Math.max(0, Math.floor(leftMs * part))));
    await quotes.setPrice(BigInt(monthCents), plan);
    if (plan === seen.plan) continue;
    const { id } = seen;
    const params = { plan, restart: true };
    seen = await assertBooked(['server.resize', { resource: id, params }], (quote) =>
      quotes.resize(id, { ...params, quote }),
    );
    assert.equal(seen.plan, plan);
  }
  return seen;
}

/** A shown time has no milliseconds. */
function endOf(time: string): Date {
  return new Date(new Date(time).getTime() + 1_000);
}

/** The next cycle costs the quoted price, at the quoted time. */
async function assertRenewal(server: Server): Promise<void> {
  // A running server costs nothing to start, and its quote says how it renews.
  const quoted = await quotes.shown('server.start', { resource: server.id });
  assert.deepEqual([quoted.due_now_usd, quoted.renews_at !== null], [0, server.auto_renew]);
  if (quoted.renews_at === null) return;
  quotes.world.clock.moveTo(new Date(endOf(quoted.renews_at).getTime() - 1_001));
  assert.deepEqual(await quotes.booked(() => quotes.bill()), []);
  quotes.world.clock.moveTo(endOf(quoted.renews_at));
  const renewed = await quotes.booked(() => quotes.bill());
  assert.deepEqual(
    renewed.map(({ amount_usd }) => amount_usd),
    [quoted.renews_usd],
  );
}

it('a quote is what the ledger says afterwards, for random orders, resizes, and deletions', async (t) => {
  await fc.assert(
    fc.asyncProperty(script, async (wanted) => {
      await quotes.clear();
      if ((await quotes.balance()) < FUNDS_CENTS) await quotes.pay(10n * FUNDS_CENTS);
      const { clock } = quotes.world;
      clock.moveTo(new Date(wanted.atMs));
      await quotes.setPrice(BigInt(wanted.monthCents));
      const server = await order(wanted);
      const { announced, end } = wanted;
      if (end === 'before it runs') return void (await remove(server));
      await quotes.install(server.id);
      clock.moveTo(new Date(wanted.atMs + DAY_MS));
      if (announced) {
        const effectiveAt = new Date(clock.now().getTime() + announced.days * DAY_MS);
        await quotes.announce(BigInt(announced.monthCents), effectiveAt);
      }
      const resized = await resizeOften(server, wanted);
      if (end === 'after a renewal') await assertRenewal(resized);
      if (end === 'after a suspension') await assertRenewal(await resume(resized, wanted));
      await remove(resized);
    }),
    seededRuns(t, RUNS),
  );
  await quotes.world.assertInvariants();
});
