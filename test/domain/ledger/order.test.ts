import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { getLedgerPeriod } from '../../../src/domain/billing/ledger-period.ts';
import { charge, credit, HOUSE, type Movement } from '../../../src/domain/ledger/transfer.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { PagePosition } from '../../../src/spec/lists.ts';
import { type LedgerRow, pageLedger } from '../../../src/store/ledger/ledger.ts';
import type { Page } from '../../../src/store/page.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

let world: TestService;
let customerId: string;
let facts = 0;

before(async () => {
  world = await startTestService();
});
after(() => world.close());
beforeEach(async () => {
  customerId = (await world.fixtures.addCustomer()).customerId;
});

const now = () => world.clock.now();
const movement = (amountCents: bigint): Movement => ({
  ...{ customerId, account: 'adjustments', amountCents, type: 'adjustment', description: 'test' },
  fact: `order:${facts++}`,
});
const give = (cents: bigint) => credit(world.db, movement(cents), now());

describe('the order of a ledger', () => {
  async function steps(): Promise<[amount: bigint, balance: bigint][]> {
    const page = { filter: {}, sort: 'created_at', descending: false, size: 5 };
    const rows: [bigint, bigint][] = [];
    for (let after: PagePosition | null = null; ; ) {
      const { rows: found, next }: Page<LedgerRow> = await pageLedger(world.db, customerId, {
        ...page,
        after,
      });
      rows.push(...found.map((row): [bigint, bigint] => [row.amount_cents, row.balance_after_cents]));
      if (next === null) return rows;
      after = next;
    }
  }

  it('transfers of one commit are listed in the order of booking, across pages', async () => {
    const amounts = Array.from({ length: 12 }, (_, i) => BigInt(100 + i));
    const at = now();
    await world.db.transaction(async (tx) => {
      for (const cents of amounts) await credit(tx, movement(cents), at);
    });
    const balanceAfter = (last: number) => amounts.slice(0, last + 1).reduce((sum, cents) => sum + cents, 0n);
    assert.deepEqual(
      await steps(),
      amounts.map((cents, i) => [cents, balanceAfter(i)]),
    );
  });

  it('a transfer that was created earlier but booked later is listed later', async () => {
    const at = now();
    await credit(world.db, movement(100n), new Date(at.getTime() + 5));
    await credit(world.db, movement(200n), at);
    assert.deepEqual(await steps(), [
      [100n, 100n],
      [200n, 300n],
    ]);
    await world.assertInvariants();
  });

  it('transfers of the previous version, without a time of booking, follow those before them', async () => {
    await give(500n);
    await world.db.run(
      `with moved as (update balances set balance_cents = balance_cents - 100 where customer_id = $1
                      returning balance_cents)
       insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, description,
                              fact, balance_after_cents, created_at)
       select $2, $1, $3, 100, $1, 'adjustment', '', $2::uuid::text, balance_cents, $4 from moved`,
      [customerId, newId(now()), HOUSE.adjustments, now()],
    );
    await give(7n);
    assert.deepEqual(await steps(), [
      [500n, 500n],
      [-100n, 400n],
      [7n, 407n],
    ]);
    await world.assertInvariants();
  });
});

describe('a ledger period', () => {
  const at = (second: number) => new Date(Date.parse('2031-05-01') + second * 1_000);
  const read = (from: number, to: number) =>
    getLedgerPeriod(world.service, { customerId }, { from: at(from), to: at(to) });
  async function book(second: number, ...cents: readonly number[]): Promise<void> {
    for (const each of cents) {
      const move = movement(BigInt(Math.abs(each)));
      await (each < 0 ? charge : credit)(world.db, move, at(second));
    }
  }

  it('a period has the balances of its ends, in the order of booking within a millisecond', async () => {
    const booked: [second: number, ...cents: number[]][] = [
      [1, 10_000, 3_000, -500],
      [2, -700],
      // A closed walk, like the next one.
      [4, 250, -250],
      [5, -125, 125],
      [7, 4_000, 1_000, 1_000, -1_000, -30],
    ];
    for (const each of booked) await book(...each);
    const sum = (from: number, to: number, sign = 0) =>
      booked
        .flatMap(([second, ...cents]) => (second >= from && second < to ? cents : []))
        .reduce((all, cents) => all + (sign * cents >= 0 ? cents : 0), 0) / 100;
    for (let from = 0; from <= 9; from++) {
      for (let to = from; to <= 9; to++) {
        assert.deepEqual(await read(from, to), {
          from: at(from).toISOString().replace('.000', ''),
          to: at(to).toISOString().replace('.000', ''),
          opening_usd: sum(0, from),
          closing_usd: sum(0, to),
          in_usd: sum(from, to, 1),
          out_usd: sum(from, to, -1),
        });
      }
    }
  });
});
