/** Moves the clock forward past due dates and back again, around month ends and a leap day. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { addMonths, DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { IS_FULL_RUN } from '../../support/runs.ts';
import { CalendarWorld } from './calendar-world.ts';

const RUNS = IS_FULL_RUN ? 60 : 1;
const MONTH_CENTS = 500n;
const MONEY = 10_000_000n;

let calendar: CalendarWorld;
before(async () => {
  calendar = await CalendarWorld.open();
});
after(() => calendar.world.close());

/** The last days of short and long months, including a leap year. */
const start = fc.constantFrom(
  ...['2031-01-31', '2031-04-30', '2031-12-31', '2032-01-29', '2032-01-30', '2032-02-29', '2035-02-28'],
);
/** Jumps by an amount, or to a moment relative to the next cycle end. */
const jump = fc.oneof(
  fc
    .constantFrom(HOUR_MS, -HOUR_MS, 31 * DAY_MS, -31 * DAY_MS, DAY_MS, 95 * DAY_MS)
    .map((byMs) => ({ byMs })),
  fc.constantFrom(-HOUR_MS, -1, 0, 1, HOUR_MS).map((fromEndMs) => ({ fromEndMs })),
);
const months = fc.constantFrom<1 | 3>(1, 1, 3);

test('every ended cycle is charged exactly once, and never early, for any jumps of the clock', async () => {
  await fc.assert(
    fc.asyncProperty(
      start,
      months,
      fc.array(jump, { minLength: 6, maxLength: 12 }),
      async (day, length, jumps) => {
        calendar.jumpTo(new Date(`${day}T23:30:00Z`));
        const actor = await calendar.customer(MONEY);
        const begun = calendar.now;
        const id = await calendar.running(actor, { billingMonths: length });
        const anchor = begun.getUTCDate();
        // Every end counts from the previous one, on the day of the month of the first.
        const ends = [addMonths(begun, length, anchor)];
        const end = (n: number): Date => {
          while (ends.length <= n) ends.push(addMonths(ends.at(-1) as Date, length, anchor));
          return ends[n] as Date;
        };
        let latest = calendar.now;
        for (const one of jumps) {
          const { paid_until: paidUntil } = await calendar.server(id);
          const from =
            'byMs' in one ? calendar.now.getTime() + one.byMs : paidUntil.getTime() + one.fromEndMs;
          calendar.jumpTo(new Date(Math.max(from, begun.getTime())));
          await calendar.runDueWork();
          if (calendar.now > latest) latest = calendar.now;
          let cycles = 1;
          while (end(cycles - 1) <= latest) cycles += 1;
          assert.deepEqual((await calendar.server(id)).paid_until, end(cycles - 1));
          const charges = await calendar.charges(id);
          const each = Number(length === 1 ? MONTH_CENTS : (MONTH_CENTS * 9n) / 4n);
          assert.deepEqual(charges, Array(cycles).fill(each));
          assert.equal(await calendar.balance(actor), MONEY - BigInt(cycles * each));
          assert.equal(await calendar.status(id), 'running');
        }
      },
    ),
    { numRuns: RUNS },
  );
});
