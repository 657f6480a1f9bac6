import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { Deadline, DeadlineExceeded, runWithin } from '../../../src/kernel/faults/deadline.ts';
import { openPipelined } from '../../../src/store/connections/pipelined.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';
import { type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';
import { FULL_ONLY } from '../../support/runs.ts';

const POOL_SIZE = 5;
/** Less than two dead sessions would cost, one after the other. */
const REQUEST_MS = 3_900;
const LISTENER_CHECK_MS = 15_000;

let scratch: ScratchDatabase;
let proxy: PgProxy;
let db: OpenDatabase;
before(async () => {
  scratch = await openScratchDatabase();
  await scratch.db.run('create table things (id int primary key)');
  proxy = await startPgProxy(scratch.connection as PgProxy['connection']);
});
after(async () => {
  await proxy.close();
  await scratch.close();
});
beforeEach(async () => {
  db = openDatabase(proxy.connection, { poolSize: POOL_SIZE });
  await everySession((id) => db.transaction((tx) => tx.row('select $1::int, pg_sleep(0.1)', [id])));
  assert.equal(db.pool.idleCount, POOL_SIZE);
  letTimePass(2_000);
});
afterEach(async () => {
  mock.restoreAll();
  await db.close();
});

async function everySession<T>(work: (id: number) => Promise<T>): Promise<T[]> {
  return await Promise.all(Array.from({ length: POOL_SIZE }, (_, id) => work(id)));
}

/** Sessions that were used a moment ago are not doubted. */
function letTimePass(ms: number): void {
  const now = performance.now.bind(performance);
  mock.method(performance, 'now', () => now() + ms);
}

async function untilRunning(like: string): Promise<void> {
  const sql = 'select from pg_stat_activity where query like $1 and pid <> pg_backend_pid()';
  while ((await scratch.db.rows(sql, [like])).length === 0);
}

const inRequest = <T>(work: () => Promise<T>) => runWithin(new Deadline(REQUEST_MS, true), work);

describe('sessions whose server is gone without a word', { timeout: 60_000 }, () => {
  it('a transaction begins on another session', async () => {
    proxy.lose();
    const insert = (id: number) =>
      inRequest(() => db.transaction((tx) => tx.run('insert into things values ($1)', [id])));
    assert.deepEqual(await everySession(insert), [1, 1, 1, 1, 1]);
  });

  it('a statement runs on another session, and only the first one waits', async () => {
    proxy.lose();
    const select = () => inRequest(() => db.row('select 1 as n'));
    for (let request = 0; request < POOL_SIZE; request++) assert.deepEqual(await select(), { n: 1 });
  });

  it('a write of background work runs once, on another session', async () => {
    proxy.lose();
    await everySession((id) => db.run('insert into things values ($1 + 200)', [id]));
    const rows = await scratch.db.rows<{ id: number }>('select id from things where id >= 200 order by id');
    assert.deepEqual(
      rows.map(({ id }) => id),
      [200, 201, 202, 203, 204],
    );
  });

  it('a statement of background work ends once the server runs nothing for it', async () => {
    const inTransaction = db.transaction((tx) => tx.run('insert into things select 301 from pg_sleep(0.5)'));
    const alone = db.run('insert into things select 302 from pg_sleep(0.5)');
    await Promise.all([untilRunning('% 301 %'), untilRunning('% 302 %')]);
    proxy.lose();
    await Promise.all([
      assert.rejects(inTransaction, /terminated/),
      assert.rejects(alone, { name: 'OutcomeUnknown' }),
    ]);
    assert.deepEqual(await scratch.db.rows('select id from things where id > 300'), [{ id: 302 }]);
  });

  it('a long statement of background work is left alone', FULL_ONLY, async () => {
    assert.deepEqual(await db.row('select 1 as n from pg_sleep(5)'), { n: 1 });
  });

  it('a session that answers is kept, and a write without an answer is not repeated', async () => {
    const pids = async () =>
      new Set(
        (
          await everySession(() => db.row<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.1)'))
        ).map((row) => row?.pid),
      );
    const earlier = await pids();
    const late = new Deadline(200, true);
    await assert.rejects(
      runWithin(late, () => db.run('insert into things select 99 from pg_sleep(1)')),
      { name: 'OutcomeUnknown' },
    );
    const kept = [...(await pids())].filter((pid) => earlier.has(pid));
    assert.equal(kept.length, POOL_SIZE - 1);
  });

  it('the first read that gets no answer has the others checked', async () => {
    const reads = await openPipelined(db);
    proxy.lose();
    const read = () => inRequest(() => reads.row('select 1 as n'));
    await assert.rejects(read(), DeadlineExceeded);
    assert.deepEqual([await read(), await read(), await read()], Array(3).fill({ n: 1 }));
    await reads.close();
  });

  it('a statement that changes something is not repeated', async () => {
    const reads = await openPipelined(db);
    proxy.lose();
    const insert = () => reads.rows('insert into things values (98) returning id');
    await Promise.all([
      assert.rejects(insert(), /terminated/),
      db.transaction((tx) => tx.row('select 1 as n')),
    ]);
    assert.deepEqual(await scratch.db.rows('select from things where id = 98'), []);
    await reads.close();
  });

  it('reads are repeated on a session that answers', async () => {
    const reads = await openPipelined(db);
    proxy.lose();
    const [rows] = await Promise.all([
      everySession(() => reads.row('select 1 as n')),
      db.transaction((tx) => tx.row('select 1 as n')),
    ]);
    assert.deepEqual(rows, Array(POOL_SIZE).fill({ n: 1 }));
    await reads.close();
  });

  it('a listener notices it, and hears notifications again', async () => {
    const checks: (() => void)[] = [];
    const { setInterval: real } = globalThis;
    mock.method(globalThis, 'setInterval', (callback: () => void, ms: number) => {
      if (ms === LISTENER_CHECK_MS) checks.push(callback);
      return real(callback, ms);
    });
    let heard = Promise.withResolvers<void>();
    await db.listen('test_channel', () => heard.resolve());
    proxy.lose();
    heard = Promise.withResolvers();
    for (const check of checks) check();
    // It calls back once when it listens again.
    await heard.promise;
    heard = Promise.withResolvers();
    await scratch.db.run(`select pg_notify('test_channel', '')`);
    await heard.promise;
  });
});
