/** Orders and starts that limit their price, by a quote or an amount. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { Service } from '../../../../src/domain/context.ts';
import { createServer } from '../../../../src/domain/servers/deploy/create.ts';
import { startServer } from '../../../../src/domain/servers/operations/power.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import type { Database, Sql, SqlValues } from '../../../../src/kernel/sql.ts';
import { DAY_MS, MINUTE_MS } from '../../../../src/kernel/time.ts';
import { LIMITS } from '../../../../src/spec/limits.ts';
import type { Server } from '../../../../src/spec/schemas/server.ts';
import { dumpTables } from '../../../support/dump-tables.ts';
import { QuotesWorld } from './quotes-world.ts';

let quotes: QuotesWorld;
before(async () => {
  quotes = await QuotesWorld.open(100_000n);
});
after(() => quotes.world.close());
beforeEach(async () => {
  await quotes.clear();
  await quotes.setPrice(1_000n);
});

const ORDER = { params: { plan: 's1', region: 'par' } };
const quoteOrder = async () => (await quotes.quote('server.create', ORDER)).id;
const start = (server: Server, body: object) =>
  startServer(quotes.world.service, quotes.actor, server.id, body);

/** Asserts that the work is refused and changes nothing. */
async function refused(work: () => Promise<unknown>): Promise<[code: string, extras: object]> {
  const { db } = quotes.world;
  const before = await dumpTables(db);
  const error: unknown = await work().then(
    () => assert.fail('the work succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  assert.deepEqual(await dumpTables(db), before);
  return [error.code, error.extras];
}

const changed = (field: string, price_usd: number) => ['price_changed', { field, price_usd }];
const UNKNOWN = ['unknown_reference', { field: 'quote' }];

/** A service whose statements are passed to `before` first. */
function watched(beforeStatement: (text: string) => Promise<void> | void): Service {
  const { service } = quotes.world;
  const watch =
    <T>(run: (text: string, values?: SqlValues) => Promise<T>) =>
    async (text: string, values?: SqlValues): Promise<T> => {
      await beforeStatement(text);
      return await run(text, values);
    };
  const { db: inner, reads } = service;
  const db: Database = {
    rows: watch((text, values) => inner.rows(text, values)) as Database['rows'],
    row: watch((text, values) => inner.row(text, values)) as Database['row'],
    run: watch((text, values) => inner.run(text, values)),
    transaction: (work) => inner.transaction(work),
  };
  const watchedReads: Sql = {
    rows: watch((text, values) => reads.rows(text, values)) as Sql['rows'],
    row: watch((text, values) => reads.row(text, values)) as Sql['row'],
    run: watch((text, values) => reads.run(text, values)),
  };
  return { ...service, db, reads: watchedReads };
}

/** A server that was suspended because it was not renewed. */
async function unrenewed(whileItRuns: () => Promise<void> = async () => {}): Promise<Server> {
  const server = await quotes.create({ auto_renew: false });
  await quotes.install(server.id);
  quotes.world.clock.advanceS(1);
  await whileItRuns();
  quotes.world.clock.moveTo(new Date(new Date(server.paid_until).getTime() + 1_000));
  await quotes.bill();
  await quotes.endOperation(server.id);
  return server;
}

describe('the limit of a price', () => {
  it('an order with a quote is refused if the price rises, and pays less if it falls', async () => {
    const quote = await quoteOrder();
    await quotes.setPrice(1_001n);
    assert.deepEqual(await refused(() => quotes.create({ quote })), changed('quote', 10.01));
    for (const cents of [1_000n, 999n]) {
      await quotes.setPrice(cents);
      assert.equal((await quotes.create({ quote })).price_usd_cycle, Number(cents) / 100);
    }
  });

  it('an order is refused above max_price_usd, to the cent, and not at it', async () => {
    for (const max_price_usd of [0, 9.99, 9.999]) {
      assert.deepEqual(await refused(() => quotes.create({ max_price_usd })), changed('max_price_usd', 10));
    }
    for (const max_price_usd of [10, 10.001, 1_000_000]) await quotes.create({ max_price_usd });
  });

  it('the lower of two limits decides', async () => {
    const quote = await quoteOrder();
    assert.deepEqual(
      await refused(() => quotes.create({ quote, max_price_usd: 9 })),
      changed('max_price_usd', 10),
    );
    await quotes.setPrice(1_500n);
    assert.deepEqual(await refused(() => quotes.create({ quote, max_price_usd: 20 })), changed('quote', 15));
  });

  it('a changed price is reported before a missing balance and before missing stock', async () => {
    const quote = await quoteOrder();
    await quotes.setPrice(9_999_999n);
    await quotes.world.db.run('update hosts set draining = true');
    assert.deepEqual(await refused(() => quotes.create({ quote })), changed('quote', 99_999.99));
    await quotes.world.db.run('update hosts set draining = false');
  });

  it('an order pays the price that was compared with its limit, even if the catalog changes', async () => {
    const service = watched(async (text) => {
      if (text.includes('insert into servers')) await quotes.setPrice(5_000n);
    });
    const entries = await quotes.booked(() =>
      createServer(service, quotes.actor, { ...quotes.body, max_price_usd: 10 }),
    );
    assert.deepEqual(entries, [{ description: 's1 in par, 1 month', amount_usd: 10 }]);
  });

  it('a limit adds no statement to an order', async () => {
    const quote = await quoteOrder();
    for (const limits of [{}, { quote, max_price_usd: 10 }]) {
      const statements: string[] = [];
      const service = watched((text) => void statements.push(text));
      await createServer(service, quotes.actor, { ...quotes.body, ...limits });
      assert.equal(statements.length, 2, 'one resolves the references, and one deploys');
    }
  });

  it('starting a server with a quote is refused if an announced price is in effect by then', async () => {
    const { clock } = quotes.world;
    const effectiveAt = new Date(clock.now().getTime() + 40 * DAY_MS);
    const server = await unrenewed(() => quotes.announce(1_200n, effectiveAt));
    clock.moveTo(new Date(effectiveAt.getTime() - MINUTE_MS));
    const { id: quote, totalCents } = await quotes.quote('server.start', { resource: server.id });
    assert.equal(totalCents, 1_000n);
    clock.moveTo(effectiveAt);
    assert.deepEqual(await refused(() => start(server, { quote })), changed('quote', 12));
    assert.deepEqual(
      await refused(() => start(server, { max_price_usd: 11.99 })),
      changed('max_price_usd', 12),
    );
    const entries = await quotes.booked(() => start(server, { max_price_usd: 12 }));
    assert.deepEqual(entries, [{ description: 's1 in par, 1 month', amount_usd: 12 }]);
  });

  it('starting a stopped server costs nothing, so a limit of 0 allows it', async () => {
    const server = await quotes.create();
    await quotes.install(server.id);
    await quotes.world.db.run(`update servers set status = 'stopped'`);
    const { id: quote, totalCents } = await quotes.quote('server.start', { resource: server.id });
    assert.equal(totalCents, 0n);
    assert.deepEqual(await quotes.booked(() => start(server, { quote, max_price_usd: 0 })), []);
  });
});

describe('the id of a quote', () => {
  it('a foreign, altered, expired, or made-up quote is unknown', async () => {
    const quote = await quoteOrder();
    const own = quotes.actor;
    quotes.actor = await quotes.world.fixtures.addCustomer(10_000n);
    const foreign = await quoteOrder();
    quotes.actor = own;
    const letters = [...quote].map((letter, at) => {
      const other = letter === 'a' ? 'b' : 'a';
      return quote.slice(0, at) + other + quote.slice(at + 1);
    });
    const madeUp = formatId('quote', newId(quotes.world.clock.now()));
    for (const text of [foreign, madeUp, ...letters, '', 'quo_', quote.slice(4), `${quote}a`])
      assert.deepEqual(await refused(() => quotes.create({ quote: text })), UNKNOWN, text);
    const end = quotes.world.clock.now().getTime() + LIMITS.quoteMinutes * MINUTE_MS;
    quotes.world.clock.moveTo(new Date(end - 1));
    await quotes.create({ quote });
    quotes.world.clock.moveTo(new Date(end));
    assert.deepEqual(await refused(() => quotes.create({ quote })), UNKNOWN);
  });

  it('a quote is for one operation and one server', async () => {
    const [one, other] = [await unrenewed(), await quotes.create({ auto_renew: false })];
    await quotes.install(other.id);
    await quotes.world.db.run(
      `update servers set status = 'suspended', suspended_reason = 'not_renewed', resume_to = 'running',
                          suspended_at = created_at, destroy_at = paid_until, paid_until = created_at`,
    );
    const ofOrder = await quoteOrder();
    const ofOne = (await quotes.quote('server.start', { resource: one.id })).id;
    const ofOther = (await quotes.quote('server.start', { resource: other.id })).id;
    const ofDeletion = (await quotes.quote('server.delete', { resource: one.id })).id;
    for (const quote of [ofOrder, ofOther, ofDeletion])
      assert.deepEqual(await refused(() => start(one, { quote })), UNKNOWN);
    for (const quote of [ofOne, ofDeletion])
      assert.deepEqual(await refused(() => quotes.create({ quote })), UNKNOWN);
    await start(one, { quote: ofOne });
  });

  it('a quote of a cheaper order does not cover a dearer one, and the reverse does', async () => {
    const cheap = await quoteOrder();
    const dear = (await quotes.quote('server.create', { params: { plan: 's1', billing_months: 12 } })).id;
    assert.deepEqual(
      await refused(() => quotes.create({ quote: cheap, billing_months: 3 })),
      changed('quote', 22.5),
    );
    await quotes.create({ quote: dear, billing_months: 3 });
  });

  it('a server that is patched to renew again starts at the quoted price', async () => {
    const server = await unrenewed();
    const { id: quote, price } = await quotes.quote('server.start', { resource: server.id });
    assert.equal(price?.renewal, null);
    await patchServer(quotes.world.service, quotes.actor, server.id, { auto_renew: true });
    assert.notEqual((await quotes.quote('server.start', { resource: server.id })).price?.renewal, null);
    await start(server, { quote });
  });
});
