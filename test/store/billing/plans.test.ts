import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getLedgerPeriod } from '../../../src/domain/billing/ledger-period.ts';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { newId } from '../../../src/kernel/ids.ts';
import type { Sql } from '../../../src/kernel/sql.ts';
import type { PageRequest } from '../../../src/spec/lists.ts';
import { pageLedger } from '../../../src/store/ledger/ledger.ts';
import type { Page } from '../../../src/store/page.ts';
import { findOperatorTopups } from '../../../src/store/topups/operator.ts';
import { pageTopups } from '../../../src/store/topups/topups.ts';
import { pageDeliveries } from '../../../src/store/webhooks/deliveries.ts';
import { assertUsesIndex, explainStatements } from '../../support/query-plans.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

/** The rows in each list of each of two customers. */
const ROWS = 10_000;
const SIZE = 25;

let fixture: TestService;
let actor: CustomerActor;
const webhookId = newId(new Date());
before(async () => {
  fixture = await startTestService();
  actor = await fixture.fixtures.addCustomer();
  for (const { customerId } of [actor, await fixture.fixtures.addCustomer()]) await insertRows(customerId);
  await fixture.db.run('analyze transfers');
  await fixture.db.run('analyze topups');
  await fixture.db.run('analyze deliveries');
});
after(() => fixture.close());

/** Inserts rows, of which one in a hundred is of the rare kind. */
async function insertRows(customerId: string): Promise<void> {
  const { db } = fixture;
  await db.run(
    `insert into transfers (id, debit_account, credit_account, amount_cents, customer_id, type, description,
                            fact, balance_after_cents, created_at, booked_at)
     select gen_random_uuid(), gen_random_uuid(), $1::uuid, 1, $1::uuid,
            case when i % 100 = 0 then 'refund' else 'charge' end, 'test', $1::uuid || ':' || i, i, at, at
       from generate_series(1, $2::int) i,
            lateral (select timestamptz '2030-01-01' + i * interval '1 second') t (at)`,
    [customerId, ROWS],
  );
  await db.run(`insert into coins (code) values ('BTC'), ('XMR') on conflict do nothing`);
  await db.run(
    `insert into topups (id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents,
                         deposit_address, deposit_uri, deposit_units, rate_usd, required_confirmations,
                         status, expires_at, created_at)
     select gen_random_uuid(), i + hashtext($1::text)::bigint * 100000,
            $1::text || i, $1::uuid, case when i % 100 = 0 then 'XMR' else 'BTC' end, 3000, 0, $1::text || i,
            '', 1, '1', 1,
            case when i % 100 = 1 then 'credited' else 'expired' end, timestamptz '2030-01-01',
            timestamptz '2030-01-01' + i * interval '1 second'
       from generate_series(1, $2::int) i`,
    [customerId, ROWS],
  );
  await db.run(
    `insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, attempt, status,
                             created_at)
     select gen_random_uuid(), gen_random_uuid(), $2, $1, gen_random_uuid(),
            case when i % 100 = 0 then 'ping' else 'server.running' end, 1,
            case when i % 100 = 1 then 'failed' else 'delivered' end,
            timestamptz '2030-01-01' + i * interval '1 second'
       from generate_series(1, $3::int) i`,
    [customerId, customerId === actor.customerId ? webhookId : newId(new Date()), ROWS],
  );
}

type Read = (sql: Sql, page: PageRequest) => Promise<Page<object>>;

/** Checks every sort with every filter, rare and common, on its first page and on a deep one. */
async function assertUsesIndexes(
  list: string,
  read: Read,
  filters: readonly PageRequest['filter'][],
): Promise<void> {
  for (const filter of [{}, ...filters]) {
    for (const descending of [true, false]) {
      const page: PageRequest = { filter, sort: 'created_at', descending, after: null, size: SIZE };
      const name = `${list} ${JSON.stringify(filter)} ${descending ? 'desc' : 'asc'}`;
      await assertUsesIndex(fixture.db, (sql) => read(sql, page), SIZE, name);
      const { next } = await read(fixture.db, { ...page, size: 60 });
      assert.ok(next, name);
      await assertUsesIndex(fixture.db, (sql) => read(sql, { ...page, after: next }), SIZE, `${name} deep`);
    }
  }
}

test('a ledger page scans only its own rows', async () => {
  const read: Read = (sql, page) => pageLedger(sql, actor.customerId, page);
  await assertUsesIndexes('ledger', read, [{ type: 'charge' }, { type: 'refund' }]);
});

test('a ledger period scans only its own rows and their neighbors, wherever it begins', async () => {
  const at = (row: number) => new Date(Date.parse('2030-01-01') + row * 1_000);
  for (const from of [1, ROWS / 2, ROWS - SIZE + 1]) {
    const period = { from: at(from), to: at(from + SIZE) };
    const statements = await explainStatements(fixture.db, async (sql) => {
      const { opening_usd: opening, closing_usd: closing } = await getLedgerPeriod(
        { db: sql },
        actor,
        period,
      );
      assert.deepEqual([opening, closing], [(from - 1) / 100, (from - 1 + SIZE) / 100]);
    });
    assert.equal(statements.length, 1);
    for (const { nodes, indexes, rowsTouched } of statements) {
      const details = `${from}: ${rowsTouched} rows by ${indexes}`;
      assert.ok(rowsTouched <= 2 * SIZE && !nodes.includes('Seq Scan'), details);
    }
  }
});

test('a page of top-ups scans only its own rows', async () => {
  const read: Read = (sql, page) => pageTopups(sql, actor.customerId, page);
  const filters = [{ status: 'expired' }, { status: 'credited' }, { coin: 'BTC' }, { coin: 'XMR' }];
  await assertUsesIndexes('topups', read, filters);
});

test('a page of deliveries scans only its own rows', async () => {
  const log = { customerId: actor.customerId, webhookId, since: new Date('2030-01-01T00:30:00Z') };
  const read: Read = (sql, page) => pageDeliveries(sql, log, page);
  const types = [{ event_type: 'server.running' }, { event_type: 'ping' }];
  await assertUsesIndexes('deliveries', read, [{ status: 'delivered' }, { status: 'failed' }, ...types]);
});

test('the operator search finds a top-up by id, reference, or txid without scanning the others', async () => {
  const { db } = fixture;
  await db.run(
    `insert into deposits (coin, key, topup_id, txid, amount_units, state, confirmations, first_seen_at)
     select coin, 'tx' || order_ref || ':0', id, 'tx' || order_ref, 1, 'final', 6, created_at from topups`,
  );
  await db.run('analyze deposits');
  const one = await db.row<{ id: string; order_ref: string }>(
    'select id, order_ref from topups where customer_id = $1 limit 1',
    [actor.customerId],
  );
  assert.ok(one);
  const names = [
    { id: one.id, text: 'top_x' },
    { id: null, text: one.order_ref },
    { id: null, text: `tx${one.order_ref}` },
  ];
  for (const name of names) {
    const [plan] = await explainStatements(db, async (sql) => {
      assert.deepEqual(
        (await findOperatorTopups(sql, name, 2)).map(({ id }) => id),
        [one.id],
      );
    });
    assert.ok(plan && plan.rowsTouched < 100, `${name.text}: ${plan?.rowsTouched} rows`);
  }
});
