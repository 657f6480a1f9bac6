/** Restores the embedded database from the store of files, on a machine that lost its disk. */
import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type BackupFolder, createBackupFolder } from '../support/backups.ts';
import { NO_RADOSGW, Radosgw } from '../support/radosgw.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { SessionClient } from '../support/session-client.ts';
import { killLeftovers, runSkerryd, startSkerryd } from '../support/skerryd-process.ts';

const WITHIN_MS = 120_000;
const POLL_MS = 100;
const SKIP = { skip: NO_RADOSGW || FULL_ONLY.skip };

let folder = '';
let store: Radosgw;
let archives: BackupFolder;
let env: Record<string, string>;
before(async () => {
  if (SKIP.skip) return;
  store = await Radosgw.start();
  folder = await mkdtemp(join(tmpdir(), 'skerry-wal-'));
  // When root runs the tests, the database runs as another user, who must be able to enter this folder.
  await chmod(folder, 0o755);
  archives = await createBackupFolder();
  env = {
    ...store.env,
    SKERRY_LOG_LEVEL: 'warn',
    SKERRY_BACKUP_RECIPIENTS: archives.recipient,
    SKERRY_BACKUP_TO: 'store',
    SKERRY_BACKUP_WAL_DAYS: '7',
    SKERRY_DATA_DIR: join(folder, 'data'),
  };
});
after(async () => {
  killLeftovers();
  await archives?.remove();
  await store?.close();
  if (folder !== '') await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 });
});

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; Date.now() < end; await pause(POLL_MS)) if (await isTrue()) return;
  assert.fail(`${what} did not happen`);
}

test('a database is restored from the store, with nothing but the keys', SKIP, async () => {
  const serving = await startSkerryd(env);
  const email = 'kept@example.test';
  await until('a verified base', async () =>
    (await runSkerryd(['status'], env)).stdout.includes('the newest verified base is of'),
  );
  await SessionClient.forUrl(serving.url).signUp({ email });
  assert.equal((await serving.stop()).code, 0);
  const stored = await store.list();
  assert.ok(stored.some((name) => /^skerry-bases-\S+\/files\/[0-9a-f-]{36}$/.test(name)));
  assert.ok(stored.some((name) => /^skerry-wal-\S+\/files\/[0-9a-f-]{36}$/.test(name)));

  await rm(join(env.SKERRY_DATA_DIR ?? '', 'pg'), { recursive: true });
  const identity = ['--identity', archives.identityFile];
  const both = await runSkerryd(['restore-to', 'latest', '--store', '--from', folder, ...identity], env);
  assert.match(both.stderr, /^skerryd: --from: set a folder, or --store instead$/m);
  const restored = await runSkerryd(['restore-to', 'latest', '--store', ...identity], env);
  assert.equal(restored.code, 0, restored.stderr);
  const customers = await runSkerryd(['customers', 'list'], env);
  assert.ok(customers.stdout.includes(email), customers.stdout);
});

test('segments wait in the data folder while the store does not answer', SKIP, async () => {
  assert.equal((await runSkerryd(['recover', '--skip', '0'], env)).code, 0);
  await store.stop();
  const serving = await startSkerryd(env);
  await SessionClient.forUrl(serving.url).signUp({ email: 'later@example.test' });
  assert.equal((await serving.stop()).code, 0);
  await store.resume();
  const before = await store.list();
  const again = await startSkerryd(env);
  await until('the upload of the segments', async () => (await store.list()).length > before.length);
  assert.equal((await again.stop()).code, 0);
});
