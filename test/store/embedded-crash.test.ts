import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { startEmbedded } from '../../src/store/embedded/index.ts';
import { IN_FULL } from '../support/runs.ts';
import {
  atEnd,
  type Connection,
  homeOf,
  lives,
  postmasterOf,
  query,
  service,
  until,
  usedDataFolder,
} from './embedded-support.ts';

async function start(t: TestContext, dataDir: string, hooks: { onRestart?: () => void } = {}) {
  const database = await startEmbedded({ dataDir, ...hooks });
  atEnd(t, () => database.stop());
  return database;
}

/** Commits rows one after another until the connection breaks; resolves with how many were acknowledged. */
async function commitUntilBroken(connection: Connection, began: () => void): Promise<number> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  await client.query('drop table if exists acknowledged; create table acknowledged (id int)');
  for (let count = 0; ; count += 1) {
    try {
      await client.query('insert into acknowledged values ($1)', [count]);
    } catch {
      return count;
    }
    if (count === 50) began();
  }
}

/** The death watch of a data folder: a shell whose arguments name the cluster. */
function watchesOf(dataDir: string): number[] {
  const lines = execFileSync('ps', ['-ww', '-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const ours = lines.filter((line) => line.includes('skerry-watch') && line.includes(dataDir));
  return ours.map((line) => Number.parseInt(line, 10));
}

async function loadedService(t: TestContext, dataDir: string) {
  const running = await service(t, dataDir);
  assert.ok(running.connection);
  const began = Promise.withResolvers<void>();
  const acknowledged = commitUntilBroken(running.connection, began.resolve);
  await began.promise;
  return { running, acknowledged, postmaster: await postmasterOf(dataDir) };
}

async function assertAllThere(connection: Connection, acknowledged: number): Promise<void> {
  const [row] = await query(connection, 'select count(*)::int as count from acknowledged');
  assert.ok(Number(row?.count) >= acknowledged, `${row?.count} rows of ${acknowledged} acknowledged`);
}

test(
  'a service killed with -9: its database ends cleanly and at once, and no committed row is lost',
  IN_FULL,
  async (t) => {
    const dataDir = await usedDataFolder();
    const { running, acknowledged, postmaster } = await loadedService(t, dataDir);
    await running.kill();
    const killedMs = performance.now();
    await until('the database is gone', async () => !(await lives(postmaster)), 3_000);
    t.diagnostic(`database gone after ${Math.round(performance.now() - killedMs)} ms`);
    await until('the watch is gone', async () => watchesOf(dataDir).length === 0);
    const home = await homeOf(dataDir);
    await assert.rejects(stat(join(home, 'cluster/postmaster.pid')), { code: 'ENOENT' });
    assert.match(await readFile(join(home, 'log'), 'utf8'), /database system is shut down\s*$/);
    const next = await start(t, dataDir);
    await assertAllThere(next.connection, await acknowledged);
  },
);

test('a start right after the kill waits for the old database and loses nothing', async (t) => {
  const dataDir = await usedDataFolder();
  const { running, acknowledged, postmaster } = await loadedService(t, dataDir);
  await running.kill();
  const startedMs = performance.now();
  const next = await start(t, dataDir);
  t.diagnostic(`next start took ${Math.round(performance.now() - startedMs)} ms`);
  assert.equal(await lives(postmaster), false);
  await assertAllThere(next.connection, await acknowledged);
});

test(
  'a killed service whose database is killed too: its watch does no harm to the next database',
  IN_FULL,
  async (t) => {
    const dataDir = await usedDataFolder();
    const { running, acknowledged, postmaster } = await loadedService(t, dataDir);
    const watches = watchesOf(dataDir);
    assert.equal(watches.length, 1);
    running.process.kill('SIGKILL');
    process.kill(postmaster, 'SIGKILL');
    const next = await start(t, dataDir);
    assert.ok(!watchesOf(dataDir).includes(Number(watches[0])), 'the old watch is gone before the start');
    await assertAllThere(next.connection, await acknowledged);
    await next.stop();
    assert.deepEqual(watchesOf(dataDir), []);
  },
);

test(
  'service, database and watch killed at once: the next start has every committed row',
  IN_FULL,
  async (t) => {
    const dataDir = await usedDataFolder();
    const { running, acknowledged, postmaster } = await loadedService(t, dataDir);
    for (const pid of watchesOf(dataDir)) process.kill(pid, 'SIGKILL');
    running.process.kill('SIGKILL');
    process.kill(postmaster, 'SIGKILL');
    const next = await start(t, dataDir);
    await assertAllThere(next.connection, await acknowledged);
  },
);

test('a watch that is killed is replaced', IN_FULL, async (t) => {
  const dataDir = await usedDataFolder();
  const running = await service(t, dataDir);
  const [first] = watchesOf(dataDir);
  assert.ok(first);
  process.kill(first, 'SIGKILL');
  await until('a new watch', async () => watchesOf(dataDir).some((pid) => pid !== first));
  const postmaster = await postmasterOf(dataDir);
  await running.kill();
  await until('the database is gone', async () => !(await lives(postmaster)), 3_000);
});

test('Ctrl-C in the terminal of the service does not reach the database', IN_FULL, async (t) => {
  const dataDir = await usedDataFolder();
  const running = await service(t, dataDir);
  assert.ok(running.connection && running.process.pid);
  const postmaster = await postmasterOf(dataDir);
  process.kill(-running.process.pid, 'SIGINT');
  assert.deepEqual(await query(running.connection, 'select 1 as one'), [{ one: 1 }]);
  await running.end();
  assert.equal(await lives(postmaster), false);
});

test('a stale postmaster.pid that names a stranger or a zombie is no obstacle', IN_FULL, async (t) => {
  const dataDir = await usedDataFolder();
  const first = await start(t, dataDir);
  const { host } = first.connection;
  const pidFile = join(await homeOf(dataDir), 'cluster/postmaster.pid');
  const traces = await readFile(pidFile, 'utf8');
  await first.stop();
  // The shell's child ends at once, and the sleep that the shell becomes never asks for its end: a zombie.
  const stranger = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  atEnd(t, () => stranger.kill());
  const [printed] = (await once(stranger.stdout, 'data')) as [Buffer];
  const zombie = Number(printed);
  await until('the zombie', async () => /\) Z /.test(await readFile(`/proc/${zombie}/stat`, 'utf8')));
  for (const pid of [Number(stranger.pid), zombie]) {
    await writeFile(pidFile, traces.replace(/^\d+/, `${pid}`));
    await writeFile(join(host, '.s.PGSQL.5432.lock'), traces.replace(/^\d+/, `${pid}`));
    await writeFile(join(host, '.s.PGSQL.5432'), '');
    const next = await start(t, dataDir);
    await query(next.connection, 'select 1');
    await next.stop();
  }
  assert.equal(stranger.exitCode, null);
});

test(
  'a database that crashes is started again on the same socket, however busy its sessions were',
  IN_FULL,
  async (t) => {
    const dataDir = await usedDataFolder();
    const restarted = Promise.withResolvers<void>();
    const { connection, stop } = await start(t, dataDir, { onRestart: restarted.resolve });
    await query(connection, 'drop table if exists kept; create table kept ()');
    const busy = query(connection, 'select count(*) from generate_series(1, 1e12::int8)').catch(
      () => 'broken',
    );
    await until(
      'the busy session',
      async () =>
        (
          await query(
            connection,
            `select 1 from pg_stat_activity where query like '%1e12%' and state = 'active'`,
          )
        ).length > 1,
    );
    const crashed = await postmasterOf(dataDir);
    process.kill(crashed, 'SIGKILL');
    assert.equal(await busy, 'broken');
    await restarted.promise;
    await query(connection, 'select from kept');
    assert.notEqual(await postmasterOf(dataDir), crashed);
    await stop();
  },
);

test('a stop right after a crash leaves nothing behind', IN_FULL, async (t) => {
  const dataDir = await usedDataFolder();
  const { connection, stop } = await start(t, dataDir);
  await query(connection, 'drop table if exists kept; create table kept ()');
  process.kill(await postmasterOf(dataDir), 'SIGKILL');
  await stop();
  await assert.rejects(query(connection, 'select 1'));
  assert.deepEqual(watchesOf(dataDir), []);
  const next = await start(t, dataDir);
  await query(next.connection, 'select from kept');
});
