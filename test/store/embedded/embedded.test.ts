import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FolderInUse, findEmbedded, startEmbedded } from '../../../src/store/embedded/index.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import {
  cleanUpAfter,
  findHome,
  preparedDataFolder,
  query,
  scratchFolder,
  spawnService,
  startService,
  waitUntil,
} from './support.ts';

async function start(t: TestContext, dataDir: string) {
  const database = await startEmbedded({ dataDir });
  cleanUpAfter(t, () => database.stop());
  return database;
}

test('committed data survives a stop and a start of the database', async (t) => {
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

test('the database is durable, has no TCP port, uses UTC, and has a private socket', async (t) => {
  const { connection } = await start(t, await preparedDataFolder());
  const rows = await query(
    connection,
    `select name, setting from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'listen_addresses', 'TimeZone',
                     'server_encoding')`,
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

test('a second start is refused in one line that names the directory, the owner, and a remedy', async (t) => {
  const dataDir = await preparedDataFolder();
  const first = await startService(t, dataDir);
  const startedMs = performance.now();
  await assert.rejects(startEmbedded({ dataDir }), (error: Error) => {
    assert.ok(error instanceof FolderInUse);
    assert.match(
      error.message,
      new RegExp(`^the data directory .*'c' is in use by process ${first.process.pid};.*SKERRY_DATA_DIR.*$`),
    );
    return true;
  });
  assert.ok(performance.now() - startedMs < 10_000, 'it does not wait while the owner is running');
  await first.end();

  const own = await start(t, dataDir);
  await assert.rejects(startEmbedded({ dataDir }), { name: 'FolderInUse' });
  await query(own.connection, 'select 1');
});

test('of two concurrent first starts, one succeeds and the other is refused', FULL_ONLY, async (t) => {
  const dataDir = join(await scratchFolder(t), 'data');
  const services = await Promise.all([startService(t, dataDir), startService(t, dataDir)]);
  assert.equal(services.filter(({ connection }) => connection !== undefined).length, 1);
  assert.equal(services.filter(({ error }) => error?.includes('is in use by process')).length, 1);
});

test('a child process started while the database runs does not keep its directory locked', async (t) => {
  const dataDir = await preparedDataFolder();
  const database = await start(t, dataDir);
  const other = spawn('sleep', ['60'], { stdio: 'ignore' });
  cleanUpAfter(t, () => other.kill());
  await database.stop();
  await (await start(t, dataDir)).stop();
  assert.equal(other.exitCode, null);
});

test(
  'a data directory with a path too long for a socket works and leaves no socket directory behind',
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
      'the watchdog removes the directory',
      async () => (await stat(host).catch(() => null)) === null,
    );
  },
);

test('the log is truncated when large, and contains nothing that a client sent', FULL_ONLY, async (t) => {
  const dataDir = await preparedDataFolder();
  const first = await start(t, dataDir);
  await query(first.connection, 'create table logged (word text primary key)');
  const duplicate = `insert into logged values ('canary'), ('canary')`;
  await assert.rejects(query(first.connection, duplicate), { code: '23505' });
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

test('a start that was killed while creating the cluster leaves nothing broken', FULL_ONLY, async (t) => {
  const dataDir = join(await scratchFolder(t), 'data');
  const { service: killed } = spawnService(t, dataDir);
  const home = join(dataDir, 'pg');
  await waitUntil('creating the cluster has begun', async () =>
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
    message: /^the database in .* was created by PostgreSQL 17, but this release runs 18; .*$/,
  });
  await writeFile(version, '18\n');
  await start(t, dataDir);
});

test('an unusable data directory is refused in one line', async (t) => {
  const folder = await scratchFolder(t);
  await writeFile(join(folder, 'file'), '');
  await assert.rejects(startEmbedded({ dataDir: join(folder, 'file', 'data') }), {
    message: new RegExp(
      '^cannot use the data directory .*file/data as user \\d+: a part of the path is not a directory.*; ' +
        '.*SKERRY_DATA_DIR.*$',
    ),
  });
  await mkdir(join(folder, 'data', 'pg', 'cluster'), { recursive: true });
  await assert.rejects(startEmbedded({ dataDir: join(folder, 'data') }), {
    message: /created by PostgreSQL an unknown version/,
  });
});
