/** Compares the ledger with plain numbers over random histories. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import {
  charge,
  credit,
  type Movement,
  reverse,
  type Transfer,
} from '../../../src/domain/ledger/transfer.ts';
import { readBalance } from '../../../src/store/ledger/ledger.ts';
import { byLevel, PROPERTY_RUNS } from '../../support/runs.ts';
import { seededRuns } from '../../support/seed.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

/** A soak run takes half an hour. */
const RUNS = byLevel({ sample: PROPERTY_RUNS, full: PROPERTY_RUNS, soak: 50 });
const STEPS = byLevel({ sample: 30, full: 200, soak: 10_000 });
const MIN_STEPS = byLevel({ sample: 5, full: 100, soak: 10_000 });
const TIMEOUT_MS = 55 * 60_000;

let world: TestService;
let facts = 0;

before(async () => {
  world = await startTestService();
});
after(() => world.close());

const now = () => world.clock.now();
type Wanted = Pick<Movement, 'customerId' | 'fact'>;
const movement = (amountCents: bigint, wanted: Wanted) =>
  ({ ...wanted, account: 'adjustments', amountCents, type: 'adjustment', description: 'test' }) as const;
const give = (cents: bigint, wanted: Wanted) => credit(world.db, movement(cents, wanted), now());
const take = (cents: bigint, wanted: Wanted) => charge(world.db, movement(cents, wanted), now());
const undo = (transferId: string) => reverse(world.db, { transferId, description: 'taken back' }, now());

type Step =
  | { do: 'credit' | 'charge'; who: number; cents: bigint }
  | { do: 'reverse'; which: number }
  | { do: 'repeat'; which: number };

const who = fc.integer({ min: 0, max: 2 });
const cents = fc.bigInt({ min: 1n, max: 1_000n });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('credit' as const, 'charge' as const), who, cents }),
  fc.record({ do: fc.constant('reverse' as const), which: fc.nat({ max: STEPS }) }),
  fc.record({ do: fc.constant('repeat' as const), which: fc.nat({ max: STEPS }) }),
);

interface Booked {
  readonly id: string;
  readonly who: number;
  /** From the customer's side. */
  readonly cents: bigint;
  readonly fact: string;
  reversed: boolean;
}

test('after any history, the ledger matches a plain model', { timeout: TIMEOUT_MS }, async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: MIN_STEPS, maxLength: STEPS, size: 'max' }),
      async (history) => {
        const customers = await Promise.all(
          [0, 1, 2].map(async () => (await world.fixtures.addCustomer()).customerId),
        );
        const balances = [0n, 0n, 0n];
        const booked: Booked[] = [];
        const model = (owner: number) => balances[owner] ?? 0n;

        /** Returns whether the ledger books it, and checks that the booking matches the model. */
        async function books(
          owner: number,
          delta: bigint,
          work: Promise<Transfer>,
        ): Promise<Transfer | undefined> {
          const transfer = await work.catch(() => undefined);
          if (!transfer) return undefined;
          balances[owner] = model(owner) + delta;
          assert.deepEqual([transfer.amountCents, transfer.balanceAfterCents], [delta, balances[owner]]);
          return transfer;
        }

        async function play(next: Step): Promise<void> {
          if ('cents' in next) {
            const fact = `model:${facts++}`;
            const wanted = { customerId: customers[next.who] ?? '', fact };
            const credited = next.do === 'credit';
            const delta = credited ? next.cents : -next.cents;
            const allowed = credited || model(next.who) >= next.cents;
            const made = await books(
              next.who,
              delta,
              credited ? give(next.cents, wanted) : take(next.cents, wanted),
            );
            assert.equal(made !== undefined, allowed);
            if (made) booked.push({ id: made.id, who: next.who, cents: delta, fact, reversed: false });
            return;
          }
          const original = booked[next.which];
          if (!original) return;
          const owner = { customerId: customers[original.who] ?? '' };
          if (next.do === 'repeat') {
            assert.equal(
              await books(original.who, 0n, give(1n, { ...owner, fact: original.fact })),
              undefined,
            );
            return;
          }
          const made = await books(original.who, -original.cents, undo(original.id));
          assert.equal(made !== undefined, !original.reversed);
          original.reversed = true;
        }

        for (const next of history) await play(next);
        for (const [n, id] of customers.entries()) assert.equal(await readBalance(world.db, id), model(n));
        const sums = await world.db.row<{ sum: string }>(
          `select coalesce(sum(case when credit_account = any($1::uuid[]) then amount_cents
                                  else -amount_cents end), 0) as sum
           from transfers where customer_id = any($1::uuid[])`,
          [customers],
        );
        assert.equal(BigInt(sums?.sum ?? 0), model(0) + model(1) + model(2));
      },
    ),
    // A long history takes hours to shrink.
    { ...seededRuns(t, RUNS), endOnFailure: STEPS > 1_000 },
  );
  await world.assertInvariants();
});
