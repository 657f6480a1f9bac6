/** A database with two hosts: two proxies to one server, of which either can fail. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, it } from 'node:test';
import { OutcomeUnknown } from '../../../src/kernel/faults/deadline.ts';
import { isUnavailable, sqlState } from '../../../src/store/connections/errors.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { createScratchDatabase } from '../../support/database.ts';
import { type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';

let scratch: Awaited<ReturnType<typeof createScratchDatabase>>;
before(async () => {
  scratch = await createScratchDatabase();
});
after(() => scratch.drop());

async function withHosts(
  work: (db: OpenDatabase, hosts: readonly PgProxy[]) => Promise<void>,
): Promise<void> {
  const hosts = [await startPgProxy(scratch.connection), await startPgProxy(scratch.connection)];
  const { user, database } = scratch.connection;
  const names = hosts.map(({ connection }) => `${connection.host}:${connection.port}`).join(',');
  const db = openDatabase({ connectionString: `postgres://${user}@${names}/${database}` }, { poolSize: 4 });
  try {
    await work(db, hosts);
  } finally {
    await db.close();
    for (const host of hosts) await host.close();
  }
}

const one = (db: OpenDatabase) => db.row<{ n: number }>('select 1 as n');

it('statements move to the host that is left, and so does the listener', async () => {
  await withHosts(async (db, hosts) => {
    let heard = Promise.withResolvers<void>();
    await db.listen('moved', () => heard.resolve());
    await Promise.all([one(db), one(db), one(db)]);
    const port = Number(db.settings.connectionString?.match(/:(\d+)\//)?.[1]);
    const current = hosts.find(({ connection }) => connection.port === port) ?? assert.fail();
    heard = Promise.withResolvers();
    await current.close();
    // A connection may be borrowed before its end is known.
    await one(db).catch((error: unknown) => assert.ok(isUnavailable(error)));
    assert.deepEqual(await Promise.all([one(db), one(db)]), [{ n: 1 }, { n: 1 }]);
    // The new listener calls once, because it may have missed something.
    await heard.promise;
  });
});

it('a host that accepts no writes is not used, and the database is unavailable without another', async () => {
  await withHosts(async (db) => {
    const { database } = scratch.connection;
    assert.deepEqual(await one(db), { n: 1 });
    await db.run(`alter database ${database} set default_transaction_read_only = on`);
    try {
      const idle = await db.pool.connect();
      const ended = once(idle, 'end');
      idle.release(true);
      await ended;
      const error = await one(db).catch((reason: unknown) => reason);
      assert.equal(sqlState(error), '25006');
      assert.ok(isUnavailable(error));
    } finally {
      const admin = openDatabase(scratch.connection, { poolSize: 1 });
      await admin.transaction(async (tx) => {
        await tx.run('set transaction read write');
        await tx.run(`alter database ${database} reset default_transaction_read_only`);
      });
      await admin.close();
    }
  });
});

it('a connection that became read-only is replaced', async () => {
  await withHosts(async (db) => {
    const client = await db.pool.connect();
    await client.query('set default_transaction_read_only = on').catch(() => undefined);
    client.release();
    assert.equal(await db.run('create table t (n int)'), 0);
  });
});

it('a role without free connections keeps the host and uses those that it has', async () => {
  const proxy = await startPgProxy(scratch.connection);
  const { database } = scratch.connection;
  const admin = openDatabase(scratch.connection, { poolSize: 1 });
  const role = `limited_${database}`;
  await admin.run(`create role ${role} login connection limit 1`);
  const name = `${proxy.connection.host}:${proxy.connection.port}`;
  const url = `postgres://${role}@${name},${name}/${database}`;
  const db = openDatabase({ connectionString: url }, { poolSize: 2 });
  try {
    // The search may still hold the only connection for a moment.
    for (const deadline = Date.now() + 10_000; ; ) {
      const found = await one(db).catch((error: unknown) => assert.equal(sqlState(error), '53300'));
      if (found) break;
      assert.ok(Date.now() < deadline);
    }
    const both = await Promise.allSettled([db.row('select pg_sleep(0.2)'), one(db)]);
    assert.deepEqual(
      both.map((result) => (result.status === 'fulfilled' ? 'ok' : sqlState(result.reason))),
      ['ok', '53300'],
    );
    assert.deepEqual(await one(db), { n: 1 });
  } finally {
    await db.close();
    await admin.run(`drop role ${role}`);
    await admin.close();
    await proxy.close();
  }
});

it('a reason for which all hosts refuse is the error', async () => {
  const proxy = await startPgProxy(scratch.connection);
  const { user } = scratch.connection;
  const name = `${proxy.connection.host}:${proxy.connection.port}`;
  const db = openDatabase(
    { connectionString: `postgres://${user}@${name},${name}/nowhere` },
    { poolSize: 1 },
  );
  try {
    assert.equal(sqlState(await one(db).catch((error: unknown) => error)), '3D000');
  } finally {
    await db.close();
    await proxy.close();
  }
});

it('a commit that no standby confirmed has an unknown outcome', async () => {
  await withHosts(async (db) => {
    await db.run('create table commits (n int)');
    const client = await db.pool.connect();
    client.emit('notice', { routine: 'SyncRepWaitForLSN' });
    client.release();
    await assert.rejects(db.run('insert into commits values (1)'), OutcomeUnknown);
    assert.equal(await db.run('insert into commits values (2)'), 1);
  });
});
