/** Restores the embedded database to a second between two customers, after its disk is lost. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { segmentId } from '../../src/domain/upkeep/wal/names.ts';
import { type OpenDatabase, openDatabase } from '../../src/store/db.ts';
import { findEmbedded } from '../../src/store/embedded/index.ts';
import { type BackupFolder, createBackupFolder, readArchive } from '../support/backups.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';

const WITHIN_MS = 60_000;
const POLL_MS = 50;

let folder = '';
let archives: BackupFolder;
let env: Record<string, string>;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skerry-wal-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  archives = await createBackupFolder();
  env = {
    SKERRY_DATA_DIR: join(folder, 'data'),
    SKERRY_LOG_LEVEL: 'warn',
    SKERRY_BACKUP_RECIPIENTS: archives.recipient,
    SKERRY_BACKUP_TO: join(archives.folder, 'to'),
    SKERRY_BACKUP_VERIFY: 'read',
    SKERRY_BACKUP_WAL_DAYS: '7',
  };
});
after(async () => {
  killLeftovers();
  await archives.remove();
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
});

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; Date.now() < end; await pause(POLL_MS)) if (await isTrue()) return;
  assert.fail(`${what} did not happen`);
}

const stored = async (kind: 'base' | 'wal') =>
  ((await readdir(env.SKERRY_BACKUP_TO ?? '').catch(() => [])) as string[])
    .filter((name) => name.includes(`-${kind}-`) && name.endsWith('.age'))
    .sort();

async function openDirect(): Promise<OpenDatabase> {
  const found = await findEmbedded({ dataDir: env.SKERRY_DATA_DIR ?? '' });
  assert.ok(found);
  return openDatabase(found, { poolSize: 1 });
}

async function signUp(url: string, email: string): Promise<void> {
  await SessionClient.forUrl(url).signUp({ email });
}

/** Finishes the current segment of the log, waits until the spool is stored, and returns its name. */
async function storeLog(db: OpenDatabase): Promise<string> {
  await db.row(`select pg_logical_emit_message(true, 'test', 'a segment without changes is not finished')`);
  const row = await db.row<{ name: string }>('select pg_walfile_name(pg_switch_wal()) as name');
  const { name } = row ?? assert.fail();
  await until('the archiving of the log', async () =>
    (await stored('wal')).some((each) => each.includes(segmentId(name))),
  );
  return name;
}

async function restoreTo(time: string, ...more: readonly string[]) {
  const flags = ['--from', env.SKERRY_BACKUP_TO ?? '', '--identity', archives.identityFile, ...more];
  return await runSkerryd(['restore-to', time, ...flags], env);
}

async function customers(): Promise<string> {
  const { code, stdout, stderr } = await runSkerryd(['customers', 'list'], env);
  assert.equal(code, 0, stderr);
  return stdout;
}

test('a lost database is restored to any second, and then waits for recover', FULL_ONLY, async () => {
  const serving = await startSkerryd(env);
  await until('a base', async () => (await stored('base')).length === 1);
  await signUp(serving.url, 'before@example.test');
  const db = await openDirect();
  const between = (await db.row<{ at: Date }>('select clock_timestamp() as at'))?.at as Date;
  await until('the next second', async () => Date.now() - between.getTime() > 1000);
  await signUp(serving.url, 'after@example.test');
  await storeLog(db);
  await db.close();
  await serving.stop('SIGKILL');
  const running = await restoreTo('latest');
  assert.match(running.stderr, /restore into an empty data folder|is in use by/);
  await until(
    'the end of the database',
    async () => (await findEmbedded({ dataDir: env.SKERRY_DATA_DIR ?? '' })) === null,
  );
  await moveDatabaseAway();

  const early = await restoreTo('2020-01-01T00:00:00Z');
  assert.match(early.stderr, /there is no whole base from before this time/);
  const none = await restoreTo('latest', '--base-before', '2020-01-01T00:00:00Z');
  assert.match(none.stderr, /there is no whole base from before this time/);
  const late = await restoreTo(new Date(Date.now() + 3_600_000).toISOString());
  assert.match(late.stderr, /the archive ends before/);
  const refused = await runSkerryd(['status'], env);
  assert.match(refused.stderr, /has not finished: run skerryd restore-to again/);

  const restored = await restoreTo(between.toISOString());
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, /the service is in recovery/);
  const list = await customers();
  assert.match(list, /before@example\.test/);
  assert.doesNotMatch(list, /after@example\.test/);
  const status = await runSkerryd(['status'], env);
  assert.match(status.stdout, /recovery +restored from/);
  const recovered = await runSkerryd(['recover', '--skip', '0'], env);
  assert.equal(recovered.code, 0, recovered.stderr);
  const verified = await runSkerryd(['verify'], env);
  assert.equal(verified.code, 0, verified.stdout);

  // The restored database goes on with a base of its own.
  const again = await startSkerryd(env);
  await until('a second base', async () => (await stored('base')).length === 2);
  await signUp(again.url, 'second-life@example.test');
  assert.equal((await again.stop()).code, 0);
  const first = await readAll();

  // A stop leaves nothing behind.
  await moveDatabaseAway();
  const latest = await restoreTo('latest');
  assert.equal(latest.code, 0, latest.stderr);
  assert.match(await customers(), /second-life@example\.test/);

  // Another life of the first base does not take the names of the second one.
  await moveDatabaseAway();
  const back = await restoreTo(between.toISOString());
  assert.equal(back.code, 0, back.stderr);
  const third = await startSkerryd(env);
  await until('a third base', async () => (await stored('base')).length === 3);
  assert.equal((await third.stop()).code, 0);
  const kept = await readAll();
  for (const [name, content] of first) assert.ok(kept.get(name)?.equals(content), name);
});

async function moveDatabaseAway(): Promise<void> {
  await rm(join(env.SKERRY_DATA_DIR ?? '', 'pg'), { recursive: true });
}

/** Every archive, by name. */
async function readAll(): Promise<Map<string, Buffer>> {
  const names = [...(await stored('base')), ...(await stored('wal'))];
  const read = async (name: string) =>
    [name, await readFile(join(env.SKERRY_BACKUP_TO ?? '', name))] as const;
  return new Map(await Promise.all(names.map(read)));
}

test('a missing segment ends the log, and is named', FULL_ONLY, async () => {
  const serving = await startSkerryd(env);
  const db = await openDirect();
  const missing = await storeLog(db);
  await storeLog(db);
  await db.close();
  assert.equal((await serving.stop()).code, 0);
  const [name = assert.fail()] = (await stored('wal')).filter((each) => each.includes(segmentId(missing)));
  await rm(join(env.SKERRY_BACKUP_TO ?? '', name));
  await moveDatabaseAway();
  const restored = await restoreTo('latest');
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(restored.stdout, new RegExp(`segment ${missing} is missing`));
  await moveDatabaseAway();
  const late = await restoreTo(new Date().toISOString());
  assert.match(late.stderr, new RegExp(`segment ${missing} is missing, so the archive ends before`));
});

test('a damaged segment ends the log, and a damaged base is left out', FULL_ONLY, async () => {
  const damage = async (name: string) => await truncate(join(env.SKERRY_BACKUP_TO ?? '', name), 1_000);
  await moveDatabaseAway();
  assert.equal((await restoreTo('latest')).code, 0);
  const bases = await stored('base');
  const serving = await startSkerryd(env);
  await until('a base', async () => (await stored('base')).length > bases.length);
  const db = await openDirect();
  const [damaged, last] = [await storeLog(db), await storeLog(db)];
  await db.close();
  assert.equal((await serving.stop()).code, 0);
  const find = async (segment: string) =>
    (await stored('wal')).find((each) => each.includes(segmentId(segment))) ?? assert.fail();
  await damage(await find(damaged));
  await moveDatabaseAway();
  const restored = await restoreTo('latest');
  assert.equal(restored.code, 0, restored.stderr);
  assert.match(
    restored.stdout,
    new RegExp(`segment ${damaged} is damaged: the log after it cannot be replayed`),
  );
  assert.ok(last > damaged);

  const [newest = assert.fail()] = (await stored('base')).filter((name) => !bases.includes(name));
  await damage(newest);
  await moveDatabaseAway();
  const earlier = await restoreTo('latest');
  assert.equal(earlier.code, 0, earlier.stderr);
  assert.match(earlier.stdout, /the base of \S+ is damaged\nunpacking the base of/);
});

test('nothing of the log can be read without the identity', FULL_ONLY, async () => {
  const [segment = ''] = await stored('wal');
  const path = join(env.SKERRY_BACKUP_TO ?? '', segment);
  const file = await readFile(path);
  assert.match(file.subarray(0, 21).toString(), /^age-encryption\.org\/v1/);
  assert.equal((await readArchive(path, archives.identity)).length, 16 * 1024 ** 2);
  assert.doesNotMatch(file.toString('latin1'), /example\.test/);
});
