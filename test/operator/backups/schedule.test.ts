/** Scheduled backups: their times, their verification, what is kept, and the alarm. */
import assert from 'node:assert/strict';
import { mkdir, readdir, rename, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '../../../src/config.ts';
import { readBackupState } from '../../../src/domain/health/backups.ts';
import { readGauges } from '../../../src/domain/health/metrics.ts';
import { readStatus } from '../../../src/domain/health/status.ts';
import { isBackupDue } from '../../../src/domain/upkeep/backups/perform.ts';
import { isDue, isProofDue, lastSlot, NEWEST_KEPT } from '../../../src/domain/upkeep/backups/plan.ts';
import { newId } from '../../../src/kernel/ids.ts';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { type BackupRow, insertBackup, listBackups } from '../../../src/store/service/backups.ts';
import { readIncarnation } from '../../../src/store/service/service.ts';
import {
  type BackupFolder,
  createBackupFolder,
  openRestoreTarget,
  runBackup,
} from '../../support/backups.ts';
import { startWorld, type World } from '../../support/world.ts';

const WITHIN_MS = 240_000;
const POLL_MS = 200;

let world: World;
let archives: BackupFolder;
let folder: string;
before(async () => {
  archives = await createBackupFolder();
  folder = join(archives.folder, 'scheduled');
  world = await startWorld({
    ...{ SKERRY_BACKUP_RECIPIENTS: archives.recipient, SKERRY_BACKUP_TO: folder },
    SKERRY_BACKUP_KEEP_DAYS: '2',
  });
});
after(async () => {
  await world.close();
  await archives.remove();
});

/** Waits for the newest record that fits. */
async function waitForBackup(fits: (row: BackupRow) => boolean): Promise<BackupRow> {
  for (const until = Date.now() + WITHIN_MS; Date.now() < until; await pause(POLL_MS)) {
    const [newest] = await listBackups(world.opened.db, 1);
    if (newest && fits(newest)) return newest;
  }
  const rows = await listBackups(world.opened.db, 3);
  return assert.fail(`no such backup: ${JSON.stringify(rows.map(({ failure }) => failure))}`);
}

const files = async () => (await readdir(folder)).filter((name) => name.endsWith('.age')).sort();
const findings = async () =>
  (await readStatus(world.opened.service)).filter(({ subject }) => subject === 'backups');
const gauge = async (name: 'skerry_backup_age_seconds' | 'skerry_backup_failed') =>
  (await readGauges(world.opened.service))[name][0]?.value;

test('a backup is made on schedule, verified by a restore, and old ones are deleted', {
  timeout: WITHIN_MS,
}, async () => {
  const first = await waitForBackup(() => true);
  assert.equal(first.failure, null);
  assert.ok(first.verified_at);
  assert.equal((await files()).length, 1);
  assert.deepEqual(
    (await findings()).map(({ level }) => level),
    ['ok'],
  );
  const { db, service } = world.opened;
  const database = await readIncarnation(db);
  const nameOf = (of: string, daysAgo: number) => {
    const id = newId(new Date(service.clock.now().getTime() - daysAgo * DAY_MS));
    return join(folder, `skerry-${of}-${id}.tar.gz.age`);
  };
  const old = Array.from({ length: NEWEST_KEPT }, (_, index) => nameOf(database, 20 - index));
  const foreign = nameOf(crypto.randomUUID(), 21);
  for (const path of [...old, foreign]) await writeFile(path, 'old');
  await world.advance(DAY_MS / 1_000);
  const second = await waitForBackup(({ id }) => id !== first.id);
  assert.equal(second.failure, null);
  const deadline = Date.now() + WITHIN_MS;
  while ((await files()).length > NEWEST_KEPT + 1 && Date.now() < deadline) await pause(POLL_MS);
  const kept = [...old.slice(2), ...[first, second].map(({ name }) => name ?? '')];
  assert.deepEqual(
    (await files()).map((name) => join(folder, name)),
    [...kept, foreign].sort(),
  );
  const { code, text } = await runBackup(world.opened, 'list');
  assert.equal(code, 0);
  assert.ok(text.includes(second.sha256 ?? '?'));
});

test('a backup of a clock that was ahead does not count as the newest', async () => {
  const { service, db } = world.opened;
  const plan = service.backups ?? assert.fail();
  const clockIn = (ms: number) => ({ now: () => new Date(service.clock.now().getTime() + ms) });
  const ahead = clockIn(30 * DAY_MS).now();
  const before = await readBackupState(service);
  const id = newId(ahead);
  const times = { started_at: ahead, ended_at: ahead, verified_at: ahead };
  await insertBackup(db, { id, ...times, name: 'ahead', size_bytes: 1n, sha256: '00', failure: null });
  assert.deepEqual((await readBackupState(service))?.verifiedFrom, before?.verifiedFrom);
  const isDueIn = async (ms: number) => await isBackupDue({ ...service, clock: clockIn(ms) }, plan);
  assert.deepEqual([await isDueIn(0), await isDueIn(DAY_MS)], [false, true]);
  await db.run('delete from database_backups where id = $1', [id]);
});

test('a scheduled backup restores, also after it was read by its own verification', async () => {
  const [newest] = await listBackups(world.opened.db, 1);
  const target = await openRestoreTarget();
  try {
    const dataDir = join(world.opened.service.settings.auditHeadsFile ?? '', '..');
    const config = loadConfig({ SKERRY_DATA_DIR: dataDir, SKERRY_LOG_LEVEL: 'silent' });
    const { code, text } = await target.restore(config, newest?.name ?? '', archives.identityFile);
    assert.equal(code, 0, text);
  } finally {
    await target.close();
  }
});

test('a backup that fails raises the alarm, and so does the age of the verified one', {
  timeout: WITHIN_MS,
}, async () => {
  assert.equal(await gauge('skerry_backup_failed'), 0);
  await rename(folder, `${folder}-moved`);
  await mkdir(folder);
  await world.advance(DAY_MS / 1_000);
  const unmounted = await waitForBackup(({ failure }) => failure !== null);
  assert.match(unmounted.failure ?? '', /scheduled has none of the earlier backups: mount its disk/);
  assert.deepEqual(await files(), []);
  await rmdir(folder);
  await writeFile(folder, 'not a folder');
  await world.advance(DAY_MS / 1_000);
  const failed = await waitForBackup(({ id, failure }) => id !== unmounted.id && failure !== null);
  assert.match(failed.failure ?? '', /^cannot write .*\(E/);
  assert.equal(await gauge('skerry_backup_failed'), 1);
  const [alarm] = await findings();
  assert.deepEqual([alarm?.level, /the last one failed/.test(alarm?.message ?? '')], ['fail', true]);
  await world.advance((2 * DAY_MS) / 1_000);
  const messages = (await findings()).map(({ message }) => message);
  assert.ok(
    messages.some((message) => /more than 48 hours ago/.test(message)),
    messages.join(),
  );
  assert.ok(((await gauge('skerry_backup_age_seconds')) ?? 0) > 2 * 86_400);
});

test('the first backup of a day is verified', () => {
  const plan = { everyHours: 6, atMinutes: 150 } as Parameters<typeof isProofDue>[0];
  const at = (time: string) => new Date(`2026-03-${time}:00Z`);
  assert.equal(isProofDue(plan, undefined, at('01T10:00')), true);
  assert.equal(isProofDue(plan, at('01T10:00'), at('01T14:30')), false);
  assert.equal(isProofDue(plan, at('01T10:00'), at('02T02:31')), true);
  assert.equal(isProofDue(plan, at('02T02:31'), at('02T20:31')), false);
});

test('the schedule counts from its time of day, and a failed attempt is repeated after half an hour', () => {
  const plan = { everyHours: 6, atMinutes: 150 } as Parameters<typeof lastSlot>[0];
  const at = (time: string) => new Date(`2026-03-01T${time}:00Z`);
  assert.deepEqual(lastSlot(plan, at('08:29')), at('02:30'));
  assert.deepEqual(lastSlot(plan, at('08:30')), at('08:30'));
  const attempt = (failure: string | null, name: string | null = null) => ({
    ...{ started_at: at('08:31'), ended_at: at('08:40'), failure, name },
  });
  assert.equal(isDue(plan, undefined, at('08:31')), true);
  assert.equal(isDue(plan, attempt(null), at('14:29')), false);
  assert.equal(isDue(plan, attempt(null), at('14:30')), true);
  assert.equal(isDue(plan, attempt('the disk is full'), at('09:09')), false);
  assert.equal(isDue(plan, attempt('not proved', 'written'), at('14:29')), false);
  assert.equal(isDue(plan, attempt('not proved', 'written'), at('14:30')), true);
  assert.equal(isDue(plan, attempt('the disk is full'), new Date(at('08:40').getTime() + HOUR_MS / 2)), true);
});
