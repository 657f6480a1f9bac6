import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FolderInUse, findEmbedded, startEmbedded } from '../../src/store/embedded/index.ts';
import { FULL_ONLY } from '../support/runs.ts';
import {
  cleanUpAfter,
  findHome,
  preparedDataFolder,
  query,
  scratchFolder,
  spawnService,
  startService,
  waitUntil,
} from './embedded-support.ts';

async function start(t: TestContext, dataDir: string) {
  const database = await startEmbedded({ dataDir });
  cleanUpAfter(t, () => database.stop());
  return database;
}

test('what was committed is there after a stop and a start', async (t) => {
  const dataDir = await preparedDataFolder();
  assert.equal(await findEmbedded({ dataDir: join(dataDir, 'missing') }), null);
  assert.equal(await findEmbedded({ dataDir }), null);
  const first = await start(t, dataDir);
  await query(first.connection, `create table kept (word text); insert into kept values ('Ägir')`);
  assert.deepEqual(await findEmbedded({ dataDir }), first.connection);
  await first.stop();
  await first.stop();
  assert.equal(await findEmbedded({ dataDir }), null);

  const second = await start(t, dataDir);
  assert.deepEqual(await query(second.connection, 'select word, upper(word) as upper from kept'), [
    { word: 'Ägir', upper: 'ÄGIR' },
  ]);
});

test('it is safe on disk, on no TCP port, in UTC, and its socket is private', async (t) => {
  const { connection } = await start(t, await preparedDataFolder());
  const rows = await query(
    connection,
    `select name, setting from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'TimeZone', 'server_encoding')`,
  );
  assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.setting])), {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    listen_addresses: '',
    TimeZone: 'UTC',
    server_encoding: 'UTF8',
  });
  assert.equal((await stat(connection.host)).mode & 0o777, 0o700);
});

test('a second start on the folder is refused in one line that names folder, holder and cure', async (t) => {
  const dataDir = await preparedDataFolder();
  const first = await startService(t, dataDir);
  const startedMs = performance.now();
  await assert.rejects(startEmbedded({ dataDir }), (error: Error) => {
    assert.ok(error instanceof FolderInUse);
    assert.match(
      error.message,
      new RegExp(`^the data folder .*'c' is in use by process ${first.process.pid};.*SKERRY_DATA_DIR.*$`),
    );
    return true;
  });
  assert.ok(performance.now() - startedMs < 10_000, 'it does not wait for a living holder');
  await first.end();

  const own = await start(t, dataDir);
  await assert.rejects(startEmbedded({ dataDir }), { name: 'FolderInUse' });
  await query(own.connection, 'select 1');
});

test('of two first starts at once one wins and the other is refused', FULL_ONLY, async (t) => {
  const dataDir = join(await scratchFolder(t), 'data');
  const services = await Promise.all([startService(t, dataDir), startService(t, dataDir)]);
  assert.equal(services.filter(({ connection }) => connection !== undefined).length, 1);
  assert.equal(services.filter(({ error }) => error?.includes('is in use by process')).length, 1);
});

test('a program started beside the database does not hold its folder', async (t) => {
  const dataDir = await preparedDataFolder();
  const database = await start(t, dataDir);
  const beside = spawn('sleep', ['60'], { stdio: 'ignore' });
  cleanUpAfter(t, () => beside.kill());
  await database.stop();
  await (await start(t, dataDir)).stop();
  assert.equal(beside.exitCode, null);
});

test(
  'a folder path too long for a socket works, and no folder for the socket is left',
  FULL_ONLY,
  async (t) => {
    const dataDir = join(await scratchFolder(t), 'long '.repeat(30));
    const first = await start(t, dataDir);
    assert.ok(first.connection.host.length < 60);
    assert.deepEqual(await findEmbedded({ dataDir }), first.connection);
    await first.stop();
    await assert.rejects(stat(first.connection.host), { code: 'ENOENT' });

    const second = await startService(t, dataDir);
    assert.ok(second.connection);
    await second.kill();
    const { host } = second.connection;
    await waitUntil(
      'the watch removes the folder',
      async () => (await stat(host).catch(() => null)) === null,
    );
  },
);

test('nothing that a client sends reaches the log, which is kept small', FULL_ONLY, async (t) => {
  const dataDir = await preparedDataFolder();
  const first = await start(t, dataDir);
  await query(first.connection, 'create table small (word text primary key)');
  const twice = `insert into small values ('canary'), ('canary')`;
  await assert.rejects(query(first.connection, twice), { code: '23505' });
  await assert.rejects(query(first.connection, `select 'canary'::int`), { code: '22P02' });
  await assert.rejects(query(first.connection, 'select canary'), { code: '42703' });
  await first.stop();
  const log = join(await findHome(dataDir), 'log');
  assert.match(await readFile(log, 'utf8'), /ready to accept connections/);
  assert.doesNotMatch(await readFile(log, 'utf8'), /canary/);
  await writeFile(log, Buffer.alloc(11 * 1024 * 1024));
  await start(t, dataDir);
  assert.ok((await stat(log)).size < 10_000);
});

test('a start that was killed while it made the cluster leaves nothing broken', FULL_ONLY, async (t) => {
  const dataDir = join(await scratchFolder(t), 'data');
  const { service: killed } = spawnService(t, dataDir);
  const home = join(dataDir, 'pg');
  await waitUntil('the making has begun', async () =>
    (await readdir(home).catch((): string[] => [])).includes('cluster.draft'),
  );
  killed.kill('SIGKILL');
  const database = await start(t, dataDir);
  await query(database.connection, 'select 1');
  assert.deepEqual((await readdir(home)).sort(), ['cluster', 'lock', 'log', 'run']);
});

test('a cluster of another major version is refused in one line', FULL_ONLY, async (t) => {
  const dataDir = await preparedDataFolder();
  await (await start(t, dataDir)).stop();
  const version = join(await findHome(dataDir), 'cluster/PG_VERSION');
  await writeFile(version, '17\n');
  await assert.rejects(startEmbedded({ dataDir }), {
    message: /^the database in .* is of PostgreSQL 17 and .* runs 18; .*$/,
  });
  await writeFile(version, '18\n');
  await start(t, dataDir);
});

test('a folder that cannot be used is refused in one line', async (t) => {
  const folder = await scratchFolder(t);
  await writeFile(join(folder, 'file'), '');
  await assert.rejects(startEmbedded({ dataDir: join(folder, 'file', 'data') }), {
    message:
      /^cannot use the data folder .*file\/data as user \d+: a part of the path is not a folder.*; .*SKERRY_DATA_DIR.*$/,
  });
  await mkdir(join(folder, 'data', 'pg', 'cluster'), { recursive: true });
  await assert.rejects(startEmbedded({ dataDir: join(folder, 'data') }), {
    message: /of PostgreSQL an unknown version/,
  });
});
