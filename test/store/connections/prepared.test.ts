import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { openPipelined } from '../../../src/store/connections/pipelined.ts';
import { NoResponse } from '../../../src/store/connections/prepared.ts';
import { destroyConnection } from '../../../src/store/connections/socket.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';
import { type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';

/** bindComplete, dataRow, commandComplete, readyForQuery: no rowDescription. */
const MESSAGES_OF_ONE_ROW = 4;
const NEVER = Number.MAX_SAFE_INTEGER;

describe('a prepared statement', { timeout: 60_000 }, () => {
  let scratch: ScratchDatabase;
  let proxy: PgProxy;
  let db: OpenDatabase;
  before(async () => {
    scratch = await openScratchDatabase();
    proxy = await startPgProxy(scratch.connection as PgProxy['connection']);
    db = openDatabase(proxy.connection, { poolSize: 1 });
    await db.run('create table things (id int primary key, note text)');
    await db.run(`insert into things values (1, 'one'), (2, null)`);
  });
  after(async () => {
    await db.close();
    await proxy.close();
    await scratch.close();
  });

  const FIND = 'select id, note from things where id = $1';

  it('columns of a result are described once per connection', async () => {
    assert.deepEqual(await db.row(FIND, [1]), { id: 1, note: 'one' });
    proxy.failAt(NEVER, 'closes');
    assert.deepEqual(await db.row(FIND, [2]), { id: 2, note: null });
    assert.equal(proxy.messageCount, MESSAGES_OF_ONE_ROW);
    assert.equal(await db.row(FIND, [3]), undefined);
    const other = openDatabase(proxy.connection, { poolSize: 1 });
    assert.deepEqual(await other.row(FIND, [1]), { id: 1, note: 'one' });
    await other.close();
  });

  it('a statement whose columns have changed fails, and its rows are not misread', async () => {
    const all = 'select * from things where id = $1';
    assert.deepEqual(await db.row(all, [1]), { id: 1, note: 'one' });
    await scratch.db.run('alter table things add column more text');
    await assert.rejects(db.row(all, [1]), /cached plan must not change result type/);
    assert.deepEqual(await db.row(FIND, [1]), { id: 1, note: 'one' });
  });

  it('a statement that fails can run again', async () => {
    const divide = 'select 6 / $1::int as share';
    await assert.rejects(db.row(divide, [0]), /division by zero/);
    assert.deepEqual(await db.row(divide, [2]), { share: 3 });
    await assert.rejects(db.row(divide, [0]), /division by zero/);
    assert.deepEqual(await db.row(divide, [3]), { share: 2 });
  });

  it('pipelined statements get their own rows, whether described or not', async () => {
    const reads = await openPipelined(db);
    for (let round = 0; round < 3; round++) {
      const ids = [1, 2, 3, 1];
      const rows = await Promise.all(ids.map((id) => reads.row<{ id: number }>(FIND, [id])));
      assert.deepEqual(
        rows.map((row) => row?.id),
        [1, 2, undefined, 1],
      );
    }
    await reads.close();
  });

  it('a statement without a response in time fails, and closes a pipelined connection', async () => {
    for (const pipeline of [true, false]) {
      const client = new pg.Client({ ...db.settings, query_timeout: 0, pipeline } as pg.ClientConfig);
      client.on('error', () => undefined);
      await client.connect();
      const sql = db.withClient(client, 200);
      assert.deepEqual(await sql.row('select 1 as n'), { n: 1 });
      const slow = assert.rejects(sql.row('select pg_sleep(30)'), NoResponse);
      if (pipeline) {
        const ended = new Promise((resolve) => client.once('end', resolve));
        const behind = assert.rejects(sql.row('select 2 as n'));
        await Promise.all([slow, behind, ended]);
      } else {
        await slow;
        destroyConnection(client);
      }
    }
  });

  it('the error of a statement names its caller', async () => {
    const error = await db.row('select no_such_column').catch((thrown: unknown) => thrown);
    assert.match(String((error as Error).stack), /prepared\.test\.ts/);
  });
});
