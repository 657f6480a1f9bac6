import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { Readiness } from '../../../src/store/connections/readiness.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';
import { type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';

const TIMEOUT_MS = 1_000;

let scratch: ScratchDatabase;
let proxy: PgProxy;
let db: OpenDatabase;
let readiness: Readiness;
before(async () => {
  scratch = await openScratchDatabase();
  proxy = await startPgProxy(scratch.connection as PgProxy['connection']);
  db = openDatabase(proxy.connection, { poolSize: 1 });
  readiness = new Readiness(db, TIMEOUT_MS);
});
after(async () => {
  readiness.close();
  await db.close();
  await proxy.close();
  await scratch.close();
});

/** Checks again until the result is this one. */
async function becomes(isReady: boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await readiness.isReady()) !== isReady) assert.ok(Date.now() < deadline, `not ${isReady}`);
}

it('a database that accepts writes is ready, also while all connections of the pool are busy', async () => {
  const busy = Promise.withResolvers<void>();
  const transaction = db.transaction(() => busy.promise);
  await becomes(true);
  busy.resolve();
  await transaction;
});

it('a check writes pages of a temporary file, which a full disk refuses', async () => {
  const files = `select temp_files > 0 as some from pg_stat_database where datname = current_database()`;
  const deadline = Date.now() + 30_000;
  do {
    assert.ok(Date.now() < deadline, 'no temporary file');
    // A connection publishes its statistics after a statement, at most once a second, or 10 s after the last.
    await becomes(true);
  } while (!(await scratch.db.row<{ some: boolean }>(files))?.some);
});

it('a database that hangs is not ready within the timeout, and ready again when it responds', async () => {
  await becomes(true);
  proxy.hang();
  await becomes(false);
  const startedAt = performance.now();
  await becomes(false);
  assert.ok(performance.now() - startedAt < TIMEOUT_MS + 500);
  proxy.resume();
  await becomes(true);
});

it('checks that were given up do not go on in the database', async () => {
  const busy = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const transaction = scratch.db.transaction(async (tx) => {
    await tx.row('select from readiness for update');
    locked.resolve();
    await busy.promise;
  });
  await locked.promise;
  const waiting = `select count(*)::int as n from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock'`;
  await becomes(false);
  for (const end = Date.now() + 10_000; (await scratch.db.row<{ n: number }>(waiting))?.n !== 0; )
    assert.ok(Date.now() < end, 'a check still waits for the row');
  busy.resolve();
  await transaction;
  await becomes(true);
});

for (const [name, setting] of [
  ['that refuses writes', "default_transaction_read_only = 'on'"],
  ['without room for a temporary file', "temp_file_limit = '8kB'"],
] as const) {
  it(`a database ${name} is not ready`, async () => {
    const { database } = scratch.connection as PgProxy['connection'];
    await scratch.db.run(`alter database ${database} set ${setting}`);
    // Only a new connection has the setting.
    const other = new Readiness(db, TIMEOUT_MS);
    assert.equal(await other.isReady(), false);
    other.close();
    await scratch.db.run(`alter database ${database} reset ${setting.split(' ')[0]}`);
    await becomes(true);
  });
}
