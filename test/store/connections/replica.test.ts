/** Reasons not to use a replica, and how many changes can be compared. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deadline, runWithin } from '../../../src/kernel/faults/deadline.ts';
import { countCompletedChanges } from '../../../src/store/connections/recent-changes.ts';
import { Replica } from '../../../src/store/connections/replica.ts';
import { type OpenDatabase, openDatabase } from '../../../src/store/db.ts';
import { createScratchDatabase } from '../../support/database.ts';
import { type PgProxy, startPgProxy } from '../../support/pg-proxy.ts';
import { NO_PAIR, type ReplicaPair, startReplicaPair } from '../../support/replica-pair.ts';
import { FULL_ONLY } from '../../support/runs.ts';

const STAFF_ID = '00000000-0000-0000-0000-000000000001';
const STAFF_LOG = `create table staff_log
  (id bigint generated always as identity, staff_id uuid, result text, created_at timestamptz)`;
const ADD_ACTS = `insert into staff_log (staff_id, result, created_at)
  select $1, 'ok', now() from generate_series(1, $2::int)`;
const OPTIONS = { poolSize: 2, maxLagMs: 5_000, onError: () => undefined };

it('more changes than are counted cannot be compared', async () => {
  const scratch = await createScratchDatabase();
  const db = openDatabase(scratch.connection, { poolSize: 1 });
  const count = () => countCompletedChanges(db, { staffId: STAFF_ID }, { now: new Date(), maxLagMs: 5_000 });
  try {
    // Hides the real table, for the only connection of the pool.
    await db.run(STAFF_LOG.replace('table', 'temporary table'));
    await db.run(ADD_ACTS, [STAFF_ID, 99]);
    assert.equal(await count(), 99n);
    await db.run(ADD_ACTS, [STAFF_ID, 5]);
    assert.equal(await count(), null);
  } finally {
    await db.close();
    await scratch.drop();
  }
});

it('a replica that does not answer delays neither start nor end', async () => {
  const scratch = await createScratchDatabase();
  const db = openDatabase(scratch.connection, { poolSize: 1 });
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as { port: number };
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const replica = new Replica(db, { connectionString: url }, OPTIONS);
  try {
    const startedAtMs = performance.now();
    await replica.start();
    assert.equal(replica.state().state, 'away');
    await replica.close();
    assert.ok(performance.now() - startedAtMs < 4_000);
  } finally {
    for (const socket of sockets) socket.destroy();
    silent.close();
    await db.close();
    await scratch.drop();
  }
});

describe('with pairs', { skip: FULL_ONLY.skip || NO_PAIR, timeout: 120_000 }, () => {
  let pairs: ReplicaPair[] = [];
  let dbs: OpenDatabase[] = [];
  let proxy: PgProxy;
  before(async () => {
    pairs = await Promise.all([startReplicaPair(), startReplicaPair()]);
    dbs = pairs.map(({ primaryUrl }) => openDatabase({ connectionString: primaryUrl }, { poolSize: 2 }));
    for (const db of dbs) {
      await db.run('create table service as select gen_random_uuid() as incarnation');
      await db.run(STAFF_LOG);
    }
    const port = Number(new URL(pairs[0]?.replicaUrl ?? '').port);
    proxy = await startPgProxy({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  });
  after(async () => {
    for (const db of dbs) await db.close();
    await proxy?.close();
    for (const pair of pairs) await pair.close();
  });

  async function withReplica(url: string, work: (replica: Replica, primary: OpenDatabase) => Promise<void>) {
    const primary = dbs[0] ?? assert.fail();
    const replica = new Replica(primary, { connectionString: url }, OPTIONS);
    await replica.start();
    try {
      await work(replica, primary);
    } finally {
      await replica.close();
    }
  }

  async function becomesCurrent(replica: Replica): Promise<void> {
    for (const deadline = Date.now() + 10_000; replica.state().state !== 'current'; await sleep(20))
      assert.ok(Date.now() < deadline, JSON.stringify(replica.state()));
  }

  it('a standby of another cluster is not used', async () => {
    await withReplica(pairs[1]?.replicaUrl ?? '', async (replica) => {
      await sleep(1_000);
      const { state, reason } = replica.state();
      assert.deepEqual([state, reason], ['away', 'it has another database']);
    });
  });

  it('changes that the replica cannot count are never counted on the primary', async () => {
    await withReplica(pairs[0]?.replicaUrl ?? '', async (replica, primary) => {
      await becomesCurrent(replica);
      await pairs[0]?.onReplica('select pg_wal_replay_pause()');
      await primary.run(ADD_ACTS, [STAFF_ID, 1]);
      assert.equal(await replica.for({ staffId: STAFF_ID }, new Date()), null);
      await pairs[0]?.onReplica(`select pg_terminate_backend(pid) from pg_stat_activity
        where query like '%staff_log%' and pid <> pg_backend_pid()`);
      assert.equal(await replica.for({ staffId: STAFF_ID }, new Date()), null);
      await pairs[0]?.onReplica('select pg_wal_replay_resume()');
    });
  });

  it('a replica that hangs leaves the request its time for the primary', async () => {
    const { host, port } = proxy.connection;
    await withReplica(`postgres://postgres@${host}:${port}/postgres`, async (replica) => {
      await becomesCurrent(replica);
      const reader = '00000000-0000-0000-0000-000000000002';
      const db = (await replica.for({ staffId: reader }, new Date())) ?? assert.fail();
      await db.row('select 1');
      proxy.hang();
      const read = () => db.row('select 1 as n');
      assert.deepEqual(await runWithin(new Deadline(1_500, false), read), { n: 1 });
    });
  });
});
