import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, beforeEach, describe, it } from 'node:test';
import type pg from 'pg';
import type { Sql } from '../../src/kernel/sql.ts';
import { isUnavailable, sqlState, violatedConstraint } from '../../src/store/connections/errors.ts';
import { openScratchDatabase, type ScratchDatabase } from '../support/database.ts';
import { FULL_ONLY } from '../support/runs.ts';

let scratch: ScratchDatabase;
before(async () => {
  scratch = await openScratchDatabase({ poolSize: 3 });
  await scratch.db.run('create table things (id int primary key, note text unique)');
});
after(() => scratch.close());
beforeEach(async () => {
  await scratch.db.run('truncate things');
});

async function listThings(): Promise<number[]> {
  const rows = await scratch.db.rows<{ id: number }>('select id from things order by id');
  return rows.map(({ id }) => id);
}

async function addThing(tx: Sql, id: number): Promise<void> {
  await tx.run('insert into things (id, note) values ($1, $2)', [id, `note ${id}`]);
}

async function captureError(work: Promise<unknown>): Promise<unknown> {
  return await work.then(
    () => assert.fail('nothing was thrown'),
    (error: unknown) => error,
  );
}

/** Raises an error with this SQLSTATE on the server. */
async function failAs(tx: Sql, state: string): Promise<void> {
  await tx.run(`do $$ begin raise exception 'requested by the test' using errcode = '${state}'; end $$`);
}

async function ownPid(tx: Sql): Promise<number> {
  const row = await tx.row<{ pid: number }>('select pg_backend_pid() as pid');
  assert.ok(row);
  return row.pid;
}

describe('a statement', () => {
  it('a statement returns numbers, times, dates, bytes, JSON, and arrays without loss', async () => {
    const row = await scratch.db.row<object>(
      `select 9007199254740993::int8 as large, 7::int4 as small, 1.10::numeric as decimal,
              12345678901234567890123456789.000000000000000001::numeric as long,
              '2030-01-31T12:00:00.5+02:00'::timestamptz as time, '2030-01-31'::date as day,
              '\\x00ff'::bytea as bytes, '{"a":[1,null]}'::jsonb as json, '{a,b}'::text[] as texts,
              null::int8 as nothing, true as yes`,
    );
    assert.deepEqual(row, {
      large: 9007199254740993n,
      small: 7,
      decimal: '1.10',
      long: '12345678901234567890123456789.000000000000000001',
      time: new Date('2030-01-31T10:00:00.500Z'),
      day: '2030-01-31',
      bytes: Buffer.from([0, 255]),
      json: { a: [1, null] },
      texts: ['a', 'b'],
      nothing: null,
      yes: true,
    });
  });

  it('a statement accepts the same types as parameters', async () => {
    const time = new Date('2030-01-31T10:00:00.123Z');
    const row = await scratch.db.row<object>(
      `select $large::int8 as large, $time::timestamptz as time, $bytes::bytea as bytes,
              $texts::text[] as texts, $ids::uuid[] as ids, $json::jsonb as json, $nothing::text as nothing`,
      {
        large: 2n ** 62n,
        time,
        bytes: Buffer.from('x'),
        texts: ['a,"b"', ''],
        ids: ['00000000-0000-0000-0000-000000000001'],
        json: JSON.stringify([1]),
        nothing: null,
      },
    );
    assert.deepEqual(row, {
      large: 2n ** 62n,
      time,
      bytes: Buffer.from('x'),
      texts: ['a,"b"', ''],
      ids: ['00000000-0000-0000-0000-000000000001'],
      json: [1],
      nothing: null,
    });
  });

  it('a statement is prepared once per connection, however often it runs', async () => {
    const prepared = await scratch.db.transaction(async (tx) => {
      for (let n = 0; n < 5; n++) await tx.row('select $1::int + 1 as sum', [n]);
      return await tx.rows<{ runs: bigint }>(
        `select generic_plans + custom_plans as runs from pg_prepared_statements
          where statement like 'select $1::int + 1%'`,
      );
    });
    assert.deepEqual(prepared, [{ runs: 5n }]);
  });

  it('run returns the number of changed rows, and row the first row or undefined', async () => {
    assert.equal(await scratch.db.run(`insert into things values (1, 'a'), (2, 'b')`), 2);
    assert.equal(await scratch.db.run('update things set note = note where id = 3'), 0);
    assert.deepEqual(await scratch.db.row('select id from things order by id'), { id: 1 });
    assert.equal(await scratch.db.row('select id from things where id = 3'), undefined);
  });

  it('statements run in UTC, with a timeout', async () => {
    const row = await scratch.db.row(
      `select current_setting('timezone') as zone, current_setting('statement_timeout') as timeout`,
    );
    assert.deepEqual(row, { zone: 'UTC', timeout: '1min' });
  });

  it('the error of a violated constraint names the constraint', async () => {
    await addThing(scratch.db, 1);
    const error = await captureError(addThing(scratch.db, 1));
    assert.deepEqual([sqlState(error), violatedConstraint(error)], ['23505', 'things_pkey']);
  });
});

describe('a transaction', { timeout: 30_000 }, () => {
  it('a transaction commits and returns the result of its callback', async () => {
    const result = await scratch.db.transaction(async (tx) => {
      await addThing(tx, 1);
      await addThing(tx, 2);
      return 'done';
    });
    assert.equal(result, 'done');
    assert.deepEqual(await listThings(), [1, 2]);
  });

  it('a transaction rolls back and rethrows the error of its callback', async () => {
    const ownError = new Error('own');
    const error = await captureError(
      scratch.db.transaction(async (tx) => {
        await addThing(tx, 1);
        throw ownError;
      }),
    );
    assert.equal(error, ownError);
    assert.deepEqual(await listThings(), []);
  });

  it('a transaction is not visible to others until it commits', async () => {
    await scratch.db.transaction(async (tx) => {
      await addThing(tx, 1);
      assert.deepEqual(await listThings(), []);
    });
    assert.deepEqual(await listThings(), [1]);
  });

  for (const [state, failure] of [
    ['40001', 'a serialization failure'],
    ['40P01', 'a deadlock'],
  ] as const) {
    it(`a transaction is retried from the beginning after ${failure}`, async () => {
      let runs = 0;
      await scratch.db.transaction(async (tx) => {
        runs += 1;
        await addThing(tx, runs);
        if (runs < 4) await failAs(tx, state);
      });
      assert.equal(runs, 4);
      assert.deepEqual(await listThings(), [4]);
    });

    it(`a transaction gives up after three retries because of ${failure}`, async () => {
      let runs = 0;
      const error = await captureError(
        scratch.db.transaction(async (tx) => {
          runs += 1;
          await failAs(tx, state);
        }),
      );
      assert.deepEqual([runs, sqlState(error)], [4, state]);
    });
  }

  it('a transaction is not retried after any other error', async () => {
    let runs = 0;
    await captureError(
      scratch.db.transaction(async (tx) => {
        runs += 1;
        await failAs(tx, '23505');
      }),
    );
    assert.equal(runs, 1);
  });

  it('two transactions that deadlock both succeed in the end', async () => {
    await scratch.db.run(`insert into things values (1, 'a'), (2, 'b')`);
    const bothLocked = barrier(2);
    const touch = (first: number, second: number) =>
      scratch.db.transaction(async (tx) => {
        await tx.run(`update things set note = note || '+' where id = $1`, [first]);
        await bothLocked();
        await tx.run(`update things set note = note || '+' where id = $1`, [second]);
      });
    await Promise.all([touch(1, 2), touch(2, 1)]);
    const notes = await scratch.db.rows<{ note: string }>('select note from things order by id');
    assert.deepEqual(notes, [{ note: 'a++' }, { note: 'b++' }]);
  });
});

/** Blocks callers until `count` have arrived; later calls pass. */
function barrier(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let remaining = count;
  return () => {
    remaining -= 1;
    if (remaining <= 0) resolve();
    return promise;
  };
}

/** Waits for the end of the client's connection, even after errors. */
async function connectionEnded(client: pg.ClientBase): Promise<void> {
  await new Promise<void>((resolve) => client.once('end', resolve));
}

describe('a connection that breaks', { timeout: 30_000 }, () => {
  const terminate = (pid: number) => scratch.db.run('select pg_terminate_backend($1)', [pid]);

  it('a connection that breaks during a transaction fails it as unavailable, and is not reused', async () => {
    let pid = 0;
    const error = await captureError(
      scratch.db.transaction(async (tx) => {
        pid = await ownPid(tx);
        await addThing(tx, 1);
        await terminate(pid);
        await addThing(tx, 2);
      }),
    );
    assert.ok(isUnavailable(error), String(error));
    assert.deepEqual(await listThings(), []);
    for (let n = 0; n < 3; n++) assert.notEqual(await scratch.db.transaction(ownPid), pid);
  });

  it('a connection that breaks during a statement fails it as unavailable', async () => {
    const begun = Promise.withResolvers<number>();
    const failing = captureError(
      scratch.db.transaction(async (tx) => {
        begun.resolve(await ownPid(tx));
        await tx.run('select pg_sleep(30)');
      }),
    );
    await terminate(await begun.promise);
    assert.ok(isUnavailable(await failing));
  });

  it('a transaction whose client vanished keeps its locks for seconds only', FULL_ONLY, async () => {
    const locked = Promise.withResolvers<void>();
    const others = Promise.withResolvers<void>();
    const vanished = captureError(
      scratch.db.transaction(async (tx) => {
        await addThing(tx, 1);
        locked.resolve();
        await others.promise;
        await addThing(tx, 2);
      }),
    );
    await locked.promise;
    // It waits for the lock of the same id, which ends before its own limit does.
    await addThing(scratch.db, 1);
    others.resolve();
    assert.ok(isUnavailable(await vanished));
    assert.deepEqual(await listThings(), [1]);
  });

  it('a connection that breaks between statements fails the next one, not the process', async () => {
    const acquired = once(scratch.db.pool, 'acquire') as Promise<[pg.PoolClient]>;
    const error = await captureError(
      scratch.db.transaction(async (tx) => {
        const [client] = await acquired;
        const ended = connectionEnded(client);
        await terminate(await ownPid(tx));
        await ended;
        await addThing(tx, 1);
      }),
    );
    assert.ok(isUnavailable(error), String(error));
    assert.deepEqual(await listThings(), []);
  });
});
