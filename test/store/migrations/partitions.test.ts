import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tendPartitions } from '../../../src/domain/upkeep/partitions.ts';
import { purgeExpired } from '../../../src/domain/upkeep/retention.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { DAY_MS } from '../../../src/kernel/time.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { MigrationError, migrate, pendingMigrations } from '../../../src/store/migrate.ts';
import { PARTITIONED, readPartitions } from '../../../src/store/service/partitions.ts';
import { createScratchDatabase } from '../../support/database.ts';
import { migrateBefore } from '../../support/earlier-schema.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const MIGRATION = '0093_partitions';
const TABLES = ['audit_events', 'deliveries', 'events', 'metrics', 'metric_points'];

/** How the version before partitions deletes expired rows. */
const EARLIER_PURGE = `
  with looked as materialized (
    select aged.ctid, aged.id as age from audit_events as aged
     where aged.id >= $1::uuid and aged.id < $2::uuid order by aged.id limit 500),
  doomed as materialized (
    select aged.ctid from audit_events as aged
     where aged.ctid = any (array(select ctid from looked)) for update of aged skip locked),
  gone as (
    delete from audit_events as aged where aged.ctid = any (array(select ctid from doomed)) returning 1)
  select count(*)::int as gone from gone`;

describe('the migration to partitions', () => {
  let scratch: Awaited<ReturnType<typeof createScratchDatabase>>;
  let db: OpenDatabase;
  let world: TestService;
  const ids: string[] = [];
  const at = (n: number) => new Date(world.clock.now().getTime() - n * 10 * DAY_MS);
  const table = async () => await readPartitions(db, PARTITIONED.audit);
  const audit = (id: string, time: Date) =>
    db.run(
      `insert into audit_events (id, action, request_id, ip_country, result, created_at)
       values ($1, 'server.stop', 'req_x', 'XX', 'ok', $2)`,
      [id, time],
    );
  const tend = async () => {
    for await (const _ of tendPartitions({ ...world.service, db }));
  };
  before(async () => {
    world = await startTestService();
    scratch = await createScratchDatabase({ empty: true });
    db = openDatabase(scratch.connection, { poolSize: 2 });
    await migrateBefore(db, MIGRATION);
    // Such a database was created long before it is upgraded.
    await db.run(`update kysely_migration set timestamp = '2025-01-01T00:00:00.000Z'`);
    for (let n = 0; n < 20; n++) {
      ids.push(newId(at(n)));
      await audit(ids[n] ?? '', at(n));
    }
    await db.run(
      `insert into events (id, customer_id, type, data, seq, created_at)
       select new_id(now()), gen_random_uuid(), 'x', '{}', 1, now() from generate_series(1, 7)`,
    );
    await db.run(`insert into processes (first_lease, last_lease) values ($1, $1)`, [newId(at(0))]);
  });
  after(async () => {
    await db.close();
    await scratch.drop();
    await world.close();
  });

  it('it reads no row, and leaves all rows in one partition of each table', async () => {
    const files = async () =>
      await db.rows<{ name: string; file: string }>(
        `select relname as name, pg_relation_filenode(oid)::text as file from pg_class
          where relname in (${TABLES.map((name) => `'${name}'`)}) or relname like any ($1) order by 1, 2`,
        [TABLES.map((name) => `${name}\\_%`)],
      );
    const earlier = (await files()).map(({ file }) => file);
    await migrate(db, { whileRunning: true });
    const left = (await files()).map(({ file }) => file).filter((file) => file !== null);
    assert.deepEqual(earlier.filter((file) => !left.includes(file)).length, 1, 'only the sequence is new');
    for (const name of TABLES) {
      const { n, all } = (await db.row<{ n: bigint; all: bigint }>(
        `select (select count(*) from partitions.${name}) as n, (select count(*) from ${name}) as all`,
      )) ?? { n: 0n, all: 1n };
      assert.equal(n, all);
    }
    await db.run(
      `insert into events (id, customer_id, type, data, created_at)
       select new_id(now()), gen_random_uuid(), 'x', '{}', now() from generate_series(1, 3)`,
    );
    const places = await db.rows<{ place: bigint }>('select place from events order by place');
    assert.equal(new Set(places.map(({ place }) => place)).size, 10);
  });

  it('the previous version deletes expired rows, and no others', async () => {
    const row = await db.row<{ gone: number }>(EARLIER_PURGE, [newId(new Date(0)), newId(at(15.5))]);
    assert.equal(row?.gone, 4);
    assert.deepEqual(await kept(), ids.slice(0, 16));
  });

  const kept = async () =>
    (await db.rows<{ id: string }>('select id from audit_events order by id desc')).map(({ id }) => id);

  it('no partition is added while the previous version runs or may come back', async () => {
    await tend();
    assert.deepEqual((await table()).partitions, []);
    await db.run('delete from processes');
    await tend();
    assert.deepEqual((await table()).partitions, []);
    // It starts.
    await migrateBefore(db, MIGRATION);
  });

  it('a week later partitions are added, and the previous version refuses to start', async () => {
    await db.run(`update kysely_migration set timestamp = $2 where name = $1`, [
      MIGRATION,
      new Date(Date.now() - 8 * DAY_MS).toISOString(),
    ]);
    await tend();
    // The present one has rows, which stay in the default partition.
    assert.equal((await table()).partitions.length, 1);
    await assert.rejects(migrateBefore(db, MIGRATION), MigrationError);
    assert.deepEqual(await pendingMigrations(db), []);
    const next = (await table()).partitions[0];
    assert.ok(next);
    const later = newId(new Date(next.fromMs));
    await audit(later, new Date(next.fromMs));
    assert.deepEqual(await kept(), [later, ...ids.slice(0, 16)]);
    // Rows of the default partition are deleted one by one, as before.
    for await (const _ of purgeExpired({ db, clock: world.clock }, 'audit'));
    assert.deepEqual(await kept(), [later, ...ids.slice(0, 10)]);
  });
});
