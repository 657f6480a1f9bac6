import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { startEmbedded } from '../../../src/store/embedded/index.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import {
  type Connection,
  cleanUpAfter,
  findHome,
  isAlive,
  preparedDataFolder,
  query,
  readPostmasterPid,
  startService,
  waitUntil,
} from './support.ts';

async function start(t: TestContext, dataDir: string, hooks: { onRestart?: () => void } = {}) {
  const database = await startEmbedded({ dataDir, ...hooks });
  cleanUpAfter(t, () => database.stop());
  return database;
}

/** Commits rows until the connection breaks. Resolves with the number of acknowledged rows. */
async function commitUntilBroken(connection: Connection, onStarted: () => void): Promise<number> {
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
    if (count === 50) onStarted();
  }
}

/** Lists the watchdogs of a data directory: shells whose arguments name its cluster. */
function listWatchdogs(dataDir: string): number[] {
  const lines = execFileSync('ps', ['-ww', '-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  const ours = lines.filter((line) => line.includes('skerry-watch') && line.includes(dataDir));
  return ours.map((line) => Number.parseInt(line, 10));
}

async function startLoadedService(t: TestContext, dataDir: string) {
  const running = await startService(t, dataDir);
  assert.ok(running.connection);
  const started = Promise.withResolvers<void>();
  const acknowledged = commitUntilBroken(running.connection, started.resolve);
  await started.promise;
  return { running, acknowledged, postmaster: await readPostmasterPid(dataDir) };
}

async function assertAllRowsPresent(connection: Connection, acknowledged: number): Promise<void> {
  const [row] = await query(connection, 'select count(*)::int as count from acknowledged');
  assert.ok(Number(row?.count) >= acknowledged, `${row?.count} rows of ${acknowledged} acknowledged`);
}

test(
  'after a service is killed with SIGKILL, its database stops cleanly at once and keeps every committed row',
  FULL_ONLY,
  async (t) => {
    const dataDir = await preparedDataFolder();
    const { running, acknowledged, postmaster } = await startLoadedService(t, dataDir);
    await running.kill();
    const killedMs = performance.now();
    await waitUntil('the database has exited', async () => !(await isAlive(postmaster)), 3_000);
    t.diagnostic(`database exited after ${Math.round(performance.now() - killedMs)} ms`);
    await waitUntil('the watchdog has exited', async () => listWatchdogs(dataDir).length === 0);
    const home = await findHome(dataDir);
    await assert.rejects(stat(join(home, 'cluster/postmaster.pid')), { code: 'ENOENT' });
    assert.match(await readFile(join(home, 'log'), 'utf8'), /database system is shut down\s*$/);
    const next = await start(t, dataDir);
    await assertAllRowsPresent(next.connection, await acknowledged);
  },
);

test('a start right after a kill waits for the previous database and loses nothing', async (t) => {
  const dataDir = await preparedDataFolder();
  const { running, acknowledged, postmaster } = await startLoadedService(t, dataDir);
  await running.kill();
  const startedMs = performance.now();
  const next = await start(t, dataDir);
  t.diagnostic(`next start took ${Math.round(performance.now() - startedMs)} ms`);
  assert.equal(await isAlive(postmaster), false);
  await assertAllRowsPresent(next.connection, await acknowledged);
});

test(
  'the watchdog of a service that was killed with its database does not affect the next database',
  FULL_ONLY,
  async (t) => {
    const dataDir = await preparedDataFolder();
    const { running, acknowledged, postmaster } = await startLoadedService(t, dataDir);
    const watchdogs = listWatchdogs(dataDir);
    assert.equal(watchdogs.length, 1);
    running.process.kill('SIGKILL');
    process.kill(postmaster, 'SIGKILL');
    const next = await start(t, dataDir);
    const [previous] = watchdogs;
    assert.ok(
      !listWatchdogs(dataDir).includes(Number(previous)),
      'the previous watchdog exits before the start',
    );
    await assertAllRowsPresent(next.connection, await acknowledged);
    await next.stop();
    assert.deepEqual(listWatchdogs(dataDir), []);
  },
);

test(
  'a start after service, database, and watchdog were killed at once has every committed row',
  FULL_ONLY,
  async (t) => {
    const dataDir = await preparedDataFolder();
    const { running, acknowledged, postmaster } = await startLoadedService(t, dataDir);
    for (const pid of listWatchdogs(dataDir)) process.kill(pid, 'SIGKILL');
    running.process.kill('SIGKILL');
    process.kill(postmaster, 'SIGKILL');
    const next = await start(t, dataDir);
    await assertAllRowsPresent(next.connection, await acknowledged);
  },
);

test('a killed watchdog is replaced', FULL_ONLY, async (t) => {
  const dataDir = await preparedDataFolder();
  const running = await startService(t, dataDir);
  const [first] = listWatchdogs(dataDir);
  assert.ok(first);
  process.kill(first, 'SIGKILL');
  await waitUntil('a new watchdog', async () => listWatchdogs(dataDir).some((pid) => pid !== first));
  const postmaster = await readPostmasterPid(dataDir);
  await running.kill();
  await waitUntil('the database has exited', async () => !(await isAlive(postmaster)), 3_000);
});

test("Ctrl-C in the service's terminal does not reach the database", FULL_ONLY, async (t) => {
  const dataDir = await preparedDataFolder();
  const running = await startService(t, dataDir);
  assert.ok(running.connection && running.process.pid);
  const postmaster = await readPostmasterPid(dataDir);
  process.kill(-running.process.pid, 'SIGINT');
  assert.deepEqual(await query(running.connection, 'select 1 as one'), [{ one: 1 }]);
  await running.end();
  assert.equal(await isAlive(postmaster), false);
});

test(
  'a stale postmaster.pid of an unrelated process or a zombie does not block a start',
  FULL_ONLY,
  async (t) => {
    const dataDir = await preparedDataFolder();
    const first = await start(t, dataDir);
    const { host } = first.connection;
    const pidFile = join(await findHome(dataDir), 'cluster/postmaster.pid');
    const staleContent = await readFile(pidFile, 'utf8');
    await first.stop();
    // The shell's child exits at once, and the sleep that replaces the shell never reaps it: a zombie.
    const unrelated = spawn('sh', ['-c', 'sleep 0.05 & echo $!; exec sleep 60'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    cleanUpAfter(t, () => unrelated.kill());
    const [printed] = (await once(unrelated.stdout, 'data')) as [Buffer];
    const zombie = Number(printed);
    await waitUntil('the zombie', async () => /\) Z /.test(await readFile(`/proc/${zombie}/stat`, 'utf8')));
    for (const pid of [Number(unrelated.pid), zombie]) {
      await writeFile(pidFile, staleContent.replace(/^\d+/, `${pid}`));
      await writeFile(join(host, '.s.PGSQL.5432.lock'), staleContent.replace(/^\d+/, `${pid}`));
      await writeFile(join(host, '.s.PGSQL.5432'), '');
      const next = await start(t, dataDir);
      await query(next.connection, 'select 1');
      await next.stop();
    }
    assert.equal(unrelated.exitCode, null);
  },
);

test(
  'a crashed database restarts on the same socket, even if its sessions were busy',
  FULL_ONLY,
  async (t) => {
    const dataDir = await preparedDataFolder();
    const restarted = Promise.withResolvers<void>();
    const { connection, stop } = await start(t, dataDir, { onRestart: restarted.resolve });
    await query(connection, 'drop table if exists kept; create table kept ()');
    const busy = query(connection, 'select count(*) from generate_series(1, 1e12::int8)').catch(
      () => 'broken',
    );
    await waitUntil(
      'the busy session',
      async () =>
        (
          await query(
            connection,
            `select 1 from pg_stat_activity where query like '%1e12%' and state = 'active'`,
          )
        ).length > 1,
    );
    const crashed = await readPostmasterPid(dataDir);
    process.kill(crashed, 'SIGKILL');
    assert.equal(await busy, 'broken');
    await restarted.promise;
    await query(connection, 'select from kept');
    assert.notEqual(await readPostmasterPid(dataDir), crashed);
    await stop();
  },
);

test('a stop right after a crash leaves no process behind', FULL_ONLY, async (t) => {
  const dataDir = await preparedDataFolder();
  const { connection, stop } = await start(t, dataDir);
  await query(connection, 'drop table if exists kept; create table kept ()');
  process.kill(await readPostmasterPid(dataDir), 'SIGKILL');
  await stop();
  await assert.rejects(query(connection, 'select 1'));
  assert.deepEqual(listWatchdogs(dataDir), []);
  const next = await start(t, dataDir);
  await query(next.connection, 'select from kept');
});

test('a stop from outside that a hanging session blocks ends, and the database starts again', async (t) => {
  const dataDir = await preparedDataFolder();
  const restarted = Promise.withResolvers<void>();
  const database = await start(t, dataDir, { onRestart: restarted.resolve });
  const session = new pg.Client(database.connection);
  session.on('error', () => undefined);
  await session.connect();
  const [row] = (await session.query('select pg_backend_pid() as pid')).rows;
  process.kill(row.pid, 'SIGSTOP');
  const postmaster = await readPostmasterPid(dataDir);
  process.kill(postmaster, 'SIGINT');
  await restarted.promise;
  assert.deepEqual(await query(database.connection, 'select 1 as one'), [{ one: 1 }]);
  assert.equal(await isAlive(row.pid), false);
});
