import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isUnavailable } from '../../../src/store/connections/errors.ts';
import { openPipelined } from '../../../src/store/connections/pipelined.ts';
import { openDatabase } from '../../../src/store/db.ts';
import { openScratchDatabase, type ScratchDatabase } from '../../support/database.ts';
import { type AfterFatal, type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';

/** The users of a connection. */
const USES = ['transaction', 'statement', 'pipelined reads', 'listener'] as const;
type Use = (typeof USES)[number];

let scratch: ScratchDatabase;
let proxy: PgProxy;
before(async () => {
  scratch = await openScratchDatabase();
  await scratch.db.run('create table things (id int primary key)');
  proxy = await startPgProxy(scratch.connection as PgProxy['connection']);
});
after(async () => {
  await proxy.close();
  await scratch.close();
});

/** Opens a database and uses it; returns the ids that it acknowledged, and the errors. */
async function useDatabase(
  use: Use,
  firstId: number,
): Promise<{ acknowledged: number[]; errors: unknown[] }> {
  const db = openDatabase(proxy.connection, { poolSize: 1 });
  const acknowledged: number[] = [];
  const errors: unknown[] = [];
  const attempt = (work: () => Promise<unknown>) => work().catch((error: unknown) => errors.push(error));
  const insert = 'insert into things values ($1)';
  const byUse: Record<Use, () => Promise<unknown>> = {
    transaction: async () => {
      for (const id of [firstId, firstId + 1]) {
        await attempt(async () => {
          await db.transaction(async (tx) => {
            await tx.run(insert, [id]);
            await tx.row('select count(*) from things');
          });
          acknowledged.push(id);
        });
      }
    },
    statement: async () => {
      for (const id of [firstId, firstId + 1]) {
        await attempt(async () => {
          await db.run(insert, [id]);
          acknowledged.push(id);
        });
      }
    },
    'pipelined reads': async () => {
      const reads = await openPipelined(db);
      await Promise.all([1, 2, 3, 4].map(() => attempt(() => reads.row('select 1 as one'))));
      await reads.close();
    },
    listener: () => db.listen('test_channel', () => undefined),
  };
  await attempt(byUse[use]);
  await db.close();
  return { acknowledged, errors };
}

async function storedIds(ids: readonly number[]): Promise<number[]> {
  const rows = await scratch.db.rows<{ id: number }>('select id from things where id = any($1) order by id', [
    ids,
  ]);
  return rows.map(({ id }) => id);
}

describe('a fatal error after any message of the server', { timeout: 120_000 }, () => {
  let nextId = 1;
  for (const after of ['closes', 'stays'] as const satisfies readonly AfterFatal[]) {
    for (const use of USES) {
      // The test runner fails this test if an error is not caught.
      it(`a fatal error ends no process and loses no acknowledged write: ${use}, ${after}`, async () => {
        let failedCount = 0;
        for (let message = 1; ; message++) {
          proxy.failAt(message, after);
          const { acknowledged, errors } = await useDatabase(use, nextId);
          nextId += 2;
          if (proxy.messageCount < message) break;
          failedCount += errors.length === 0 ? 0 : 1;
          for (const error of errors) assert.ok(isUnavailable(error), `message ${message}: ${String(error)}`);
          assert.deepEqual(await storedIds(acknowledged), acknowledged, `message ${message}`);
        }
        assert.ok(failedCount > 10, `${failedCount} failures`);
      });
    }
  }
});

describe('after a fatal error', { timeout: 60_000 }, () => {
  const RECOVERY_MS = 5_000;

  it('reads recover from a fatal error in any message of their start', async () => {
    for (let message = 1; ; message++) {
      proxy.failAt(message, 'stays');
      const db = openDatabase(proxy.connection, { poolSize: 1 });
      const reads = await openPipelined(db).catch(() => null);
      const openedAt = proxy.messageCount;
      const deadline = Date.now() + RECOVERY_MS;
      const readAll = () => Promise.allSettled([1, 2, 3, 4].map(() => reads?.row('select 1 as one')));
      const failed = async () => (await readAll()).some(({ status }) => status === 'rejected');
      while (await failed()) assert.ok(Date.now() < deadline, `message ${message}`);
      await reads?.close();
      await db.close();
      if (openedAt < message) break;
    }
  });

  it('a listener hears notifications again, even if the server keeps the broken connection', async () => {
    const db = openDatabase(proxy.connection, { poolSize: 1 });
    let heard = Promise.withResolvers<void>();
    await db.listen('test_channel', () => heard.resolve());
    const notify = () => scratch.db.run(`select pg_notify('test_channel', '')`);
    heard = Promise.withResolvers();
    proxy.failAt(1, 'stays');
    await notify();
    await heard.promise;
    // It calls back once when it listens again.
    heard = Promise.withResolvers();
    await heard.promise;
    heard = Promise.withResolvers();
    await notify();
    await heard.promise;
    await db.close();
  });
});
