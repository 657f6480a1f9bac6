/** The migration that orders the transfers of databases from before `booked_at`. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { createScratchDatabase } from '../../support/database.ts';
import { migrateBefore } from '../../support/earlier-schema.ts';

const ORDER = '0031_order_of_booking';
const HOUSE = '00000000-0000-0000-0000-000000000004';

let scratch: Awaited<ReturnType<typeof createScratchDatabase>>;
let db: OpenDatabase;
let customers = 0;

before(async () => {
  scratch = await createScratchDatabase({ empty: true });
  db = openDatabase(scratch.connection, { poolSize: 2 });
  await migrateBefore(db, ORDER);
});
after(async () => {
  await db.close();
  await scratch.drop();
});

interface OldTransfer {
  /** Milliseconds after the first. */
  readonly ms: number;
  readonly cents: number;
  readonly afterCents: number;
}

/** Inserts transfers as an earlier version wrote them; their ids do not tell their order. */
async function insertCustomer(transfers: readonly OldTransfer[]): Promise<string> {
  const customer = `c0000000-0000-0000-0000-${String(++customers).padStart(12, '0')}`;
  await db.run(
    `with made as (insert into customers (id, public_no, email, email_key, password_hash, created_at)
                   select $1, $2, $1::uuid::text, $1::uuid::text, '', now() returning id)
     insert into balances (customer_id, balance_cents) select id, $3 from made`,
    [customer, customers, transfers.at(-1)?.afterCents ?? 0],
  );
  for (const { ms, cents, afterCents } of transfers) {
    await db.run(
      `insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, description,
                              fact, balance_after_cents, created_at)
       values (gen_random_uuid(), $1, $2, $3, $4, 'adjustment', '', gen_random_uuid()::text, $5,
               timestamptz '2030-01-01' + $6 * interval '1 ms')`,
      [...(cents < 0 ? [customer, HOUSE] : [HOUSE, customer]), Math.abs(cents), customer, afterCents, ms],
    );
  }
  return customer;
}

it('transfers of earlier versions are put in the order that times and balances allow', async () => {
  /** Twelve credits of one commit, a reversal and a repeated credit of one, and a closed walk. */
  const twelve = Array.from({ length: 12 }, (_, i) => ({ ms: 0, cents: 30, afterCents: 30 * (i + 1) }));
  const histories: Record<string, OldTransfer[]> = {
    'one commit': twelve,
    'a balance that returns': [
      { ms: 0, cents: 100, afterCents: 100 },
      ...[1, 1].flatMap((ms) => [
        { ms, cents: -30, afterCents: 70 },
        { ms, cents: 30, afterCents: 100 },
      ]),
      { ms: 1, cents: -100, afterCents: 0 },
      { ms: 9, cents: 5, afterCents: 5 },
    ],
    'a later time that was booked first': [
      { ms: 5, cents: 50, afterCents: 50 },
      { ms: 4, cents: 10, afterCents: 60 },
      { ms: 6, cents: 1, afterCents: 61 },
    ],
    'in order': [
      { ms: 0, cents: 50, afterCents: 50 },
      { ms: 4, cents: -10, afterCents: 40 },
    ],
  };
  const ids = new Map<string, string>();
  for (const [name, transfers] of Object.entries(histories)) ids.set(name, await insertCustomer(transfers));
  const broken = await insertCustomer([
    { ms: 0, cents: 50, afterCents: 70 },
    { ms: 1, cents: 50, afterCents: 100 },
  ]);
  const none = await insertCustomer([]);
  const [ran] = await migrate(db);
  assert.equal(ran, ORDER);
  const read = async (customer: string | undefined) =>
    (
      await db.rows<{ after: bigint }>(
        'select balance_after_cents as after from transfers where customer_id = $1 order by booked_at',
        [customer],
      )
    ).map(({ after: cents }) => Number(cents));
  for (const [name, transfers] of Object.entries(histories)) {
    assert.deepEqual(
      await read(ids.get(name)),
      transfers.map(({ afterCents }) => afterCents),
      name,
    );
  }
  assert.deepEqual(await read(broken), [70, 100], 'books that do not add up stay in the order of time');
  const times = await db.rows(
    `select customer_id from transfers group by customer_id having count(distinct booked_at) <> count(*)
     union all select b.customer_id from balances b
      where booked_at is distinct from
            (select max(booked_at) from transfers t where t.customer_id = b.customer_id)
     union all select customer_id from transfers where booked_at < created_at`,
  );
  assert.deepEqual(times, [], `and ${none}, without transfers, has no time of booking`);
});
