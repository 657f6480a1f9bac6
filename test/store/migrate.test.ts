import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { MigrationError, migrate, migrationFiles, pendingMigrations } from '../../src/store/migrate.ts';
import { createScratchDatabase } from '../support/database.ts';

const A = 'create table a (id int primary key);';
const B = 'create table b (a_id int references a); create index b_by_a on b (a_id);';

describe('migrations', () => {
  let scratch: Awaited<ReturnType<typeof createScratchDatabase>>;
  let db: OpenDatabase;
  let path: string;
  let folder: URL;

  before(async () => {
    scratch = await createScratchDatabase({ empty: true });
    db = openDatabase(scratch.connection, { poolSize: 3 });
  });
  after(async () => {
    await db.close();
    await scratch.drop();
  });
  beforeEach(async () => {
    await db.run('drop schema public cascade');
    await db.run('create schema public');
    path = await mkdtemp(join(tmpdir(), 'skerry-migrations-'));
    folder = pathToFileURL(`${path}/`);
  });
  afterEach(() => rm(path, { recursive: true }));

  const write = (name: string, text: string) => writeFile(join(path, `${name}.sql`), text);
  const remove = (name: string) => rm(join(path, `${name}.sql`));
  async function tables(): Promise<string[]> {
    const rows = await db.rows<{ name: string }>(
      `select table_name as name from information_schema.tables
        where table_schema = 'public' and table_name in ('a', 'b', 'c', 'migration_files') order by 1`,
    );
    return rows.map(({ name }) => name);
  }
  async function refusalMessage(work: Promise<unknown>): Promise<string> {
    const error = await work.then(
      () => assert.fail('the migrations were accepted'),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof MigrationError, String(error));
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }

  it('migrations run in name order, and migrate returns their names', async () => {
    await write('0002_b', B);
    await write('0001_a', A);
    assert.deepEqual(await pendingMigrations(db, folder), ['0001_a', '0002_b']);
    assert.deepEqual(await migrate(db, { folder }), ['0001_a', '0002_b']);
    assert.deepEqual(await tables(), ['a', 'b', 'migration_files']);
    assert.deepEqual(await pendingMigrations(db, folder), []);
  });

  it('a migration runs once: a second run does nothing', async () => {
    await write('0001_a', A);
    await migrate(db, { folder });
    await db.run('insert into a values (1)');
    assert.deepEqual(await migrate(db, { folder }), []);
    assert.deepEqual(await db.rows('select id from a'), [{ id: 1 }]);
  });

  it('a migration added later runs alone, after the earlier ones', async () => {
    await write('0001_a', A);
    await migrate(db, { folder });
    await write('0002_b', B);
    assert.deepEqual(await pendingMigrations(db, folder), ['0002_b']);
    assert.deepEqual(await migrate(db, { folder }), ['0002_b']);
  });

  it('a migration edited after it ran is refused, even if only a comment changed', async () => {
    await write('0001_a', A);
    await migrate(db, { folder });
    await write('0001_a', `${A} -- a note`);
    await write('0002_b', B);
    assert.match(await refusalMessage(migrate(db, { folder })), /0001_a was edited/);
    assert.match(await refusalMessage(pendingMigrations(db, folder)), /0001_a was edited/);
    assert.deepEqual(await tables(), ['a', 'migration_files']);
  });

  it('a database that was migrated by a newer version is refused', async () => {
    await write('0001_a', A);
    await write('0002_b', B);
    await migrate(db, { folder });
    await remove('0002_b');
    assert.match(await refusalMessage(migrate(db, { folder })), /0002_b.*newer version/);
    assert.match(await refusalMessage(pendingMigrations(db, folder)), /0002_b.*newer version/);
  });

  it('a database of a newer version is used if its migrations are compatible with this one', async () => {
    await write('0001_a', A);
    await write('0002_b', `-- Compatible: adds a table.\n${B}`);
    await migrate(db, { folder });
    await remove('0002_b');
    assert.deepEqual(await pendingMigrations(db, folder), []);
    assert.deepEqual(await migrate(db, { folder }), []);
  });

  it('only compatible migrations run while the service runs, and they do not wait for a lock', async () => {
    await write('0001_a', A);
    assert.match(await refusalMessage(migrate(db, { folder, whileRunning: true })), /database is empty/);
    await migrate(db, { folder });
    await write('0002_b', `-- Compatible: adds a table.\n${B}`);
    await write('0003_c', '-- Incompatible: drops a column.\ncreate table c (id int);');
    const refused = await refusalMessage(migrate(db, { folder, whileRunning: true }));
    assert.match(refused, /migration 0003_c; stop the service/);
    await remove('0003_c');
    await db.transaction(async (tx) => {
      await tx.run('lock table a in access exclusive mode');
      const startedAt = performance.now();
      const busy = await refusalMessage(migrate(db, { folder, whileRunning: true }));
      assert.match(busy, /nothing was changed; run it again/);
      // Other statements of the service wait for 30 s.
      assert.ok(performance.now() - startedAt < 20_000);
    });
    assert.deepEqual(await migrate(db, { folder, whileRunning: true }), ['0002_b']);
  });

  it('a new migration is refused if it sorts before a migration that already ran', async () => {
    await write('0002_b', 'create table b (id int)');
    await migrate(db, { folder });
    await write('0001_a', A);
    await assert.rejects(migrate(db, { folder }));
    assert.deepEqual(await tables(), ['b', 'migration_files']);
  });

  it('a failed migration rolls back, together with the earlier ones of the same run', async () => {
    await write('0001_a', A);
    await write('0002_b', `${B} create table c (id int); insert into c values ('no number');`);
    await assert.rejects(migrate(db, { folder }), /invalid input syntax/);
    assert.deepEqual(await tables(), []);
    await write('0002_b', B);
    assert.deepEqual(await migrate(db, { folder }), ['0001_a', '0002_b']);
  });

  it('migrations of earlier runs are kept when a later one fails', async () => {
    await write('0001_a', A);
    await migrate(db, { folder });
    await write('0002_b', 'create table b (id nothing)');
    await assert.rejects(migrate(db, { folder }));
    assert.deepEqual(await tables(), ['a', 'migration_files']);
    assert.deepEqual(await pendingMigrations(db, folder), ['0002_b']);
  });

  it('migrations run once when several processes migrate at the same time', async () => {
    await write('0001_a', `${A} select pg_sleep(0.05);`);
    await write('0002_b', B);
    const others = Array.from({ length: 3 }, () => openDatabase(scratch.connection, { poolSize: 3 }));
    try {
      const ran = await Promise.all([db, ...others].map((each) => migrate(each, { folder })));
      assert.deepEqual(
        ran.filter((names) => names.length > 0),
        [['0001_a', '0002_b']],
      );
      assert.deepEqual(await db.row('select count(*)::int as n from migration_files'), { n: 2 });
    } finally {
      await Promise.all(others.map((each) => each.close()));
    }
  });

  it('each migration is announced when it runs, with its time when it is done', async () => {
    const lines: string[] = [];
    const tell = (line: string) => void lines.push(line);
    await write('0001_a', A);
    await migrate(db, { folder, tell });
    assert.deepEqual(lines, [], 'a new database has nothing to move');
    await write('0002_b', `${B} select pg_sleep(0.15);`);
    await write('0003_c', 'create table c (id nothing)');
    await assert.rejects(migrate(db, { folder, tell }));
    const [running, took, failing, ...others] = lines;
    assert.equal(running, 'migration 0002_b: 1 of 2, running');
    assert.match(took ?? '', /^migration 0002_b: took 0\.[1-9] s$/);
    assert.deepEqual([failing, others], ['migration 0003_c: 2 of 2, running', []]);
  });

  it('migrate leaves the pool open for its caller', async () => {
    await write('0001_a', A);
    await migrate(db, { folder });
    assert.deepEqual(await db.row('select 1 as alive'), { alive: 1 });
  });

  it('only the .sql files of the folder are migrations', async () => {
    await write('0001_a', A);
    await writeFile(join(path, 'README.md'), 'notes');
    assert.deepEqual(
      migrationFiles(folder).map(({ name }) => name),
      ['0001_a'],
    );
  });
});

describe("the service's own migrations", () => {
  let scratch: Awaited<ReturnType<typeof createScratchDatabase>>;
  let db: OpenDatabase;
  before(async () => {
    scratch = await createScratchDatabase({ empty: true });
    db = openDatabase(scratch.connection, { poolSize: 2 });
  });
  after(async () => {
    await db.close();
    await scratch.drop();
  });

  it("the service's migrations create the current schema and then have nothing to do", async () => {
    const names = migrationFiles().map(({ name }) => name);
    assert.deepEqual(await migrate(db), names);
    assert.deepEqual(await migrate(db), []);
    assert.deepEqual(await pendingMigrations(db), []);
  });

  it('every cascading foreign key has an index', async () => {
    const unindexed = await db.rows<{ table: string; column: string }>(
      `select c.conrelid::regclass::text as table, a.attname as column
         from pg_constraint c
         join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
        where c.contype = 'f' and c.confdeltype = 'c'
          and not exists (
            select from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = c.conkey[1])`,
    );
    assert.deepEqual(unindexed, []);
  });
});
