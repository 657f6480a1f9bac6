/** The spool of the write-ahead log, on a real database whose `archive_command` fails for a while. */
import assert from 'node:assert/strict';
import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { openWalSpool } from '../../../src/store/embedded/archiving.ts';
import { startEmbedded } from '../../../src/store/embedded/index.ts';
import { type Connection, cleanUpAfter, findHome, query, scratchFolder, waitUntil } from './support.ts';

/** PostgreSQL tries a command that fails again after a second. */
const ARCHIVED_WITHIN_MS = 30_000;

/** Returns the name of the segment that it finishes. */
async function finishSegment(connection: Connection): Promise<string> {
  await query(connection, 'create table if not exists changes (at timestamptz)');
  await query(connection, 'insert into changes values (now())');
  const [row] = await query(connection, 'select pg_walfile_name(pg_switch_wal()) as name');
  return String(row?.name);
}

it('counts a segment that PostgreSQL cannot copy as waiting, and has it once it can', async (t) => {
  const dataDir = join(await scratchFolder(t), 'data');
  const database = await startEmbedded({ dataDir, isArchiving: true });
  cleanUpAfter(t, () => database.stop());
  const spool = (await openWalSpool({ dataDir })) ?? assert.fail('there is no spool');
  const folder = join(await findHome(dataDir), 'wal');
  assert.equal(await spool.ageMs(), null);

  await chmod(folder, 0o500);
  const failed = await finishSegment(database.connection);
  await waitUntil('the command fails', async () => {
    const [row] = await query(database.connection, 'select failed_count > 0 as it from pg_stat_archiver');
    return row?.it === true;
  });
  assert.deepEqual(await spool.list(), []);
  assert.ok(((await spool.ageMs()) ?? -1) >= 0);

  await chmod(folder, 0o700);
  const next = await finishSegment(database.connection);
  await waitUntil(
    'both segments are copied',
    async () => (await spool.list()).includes(next),
    ARCHIVED_WITHIN_MS,
  );
  assert.deepEqual(await spool.list(), [failed, next]);
  assert.equal((await spool.read(failed)).length, 16 * 1024 ** 2);

  assert.ok(((await spool.brokenMs()) ?? -1) >= 0);
  assert.equal(await spool.newestBase(), null);
  const base = { startedAt: new Date(), archive: '/srv/a folder/skerry-1-base-2' };
  await spool.begin(base);
  assert.equal(await spool.brokenMs(), null);
  await spool.drop();
  assert.deepEqual(await spool.newestBase(), base);
  assert.ok(((await spool.brokenMs()) ?? -1) >= 0);
  await spool.begin(base);
  await rm(spool.baseFile);
  assert.equal((await spool.newestBase())?.archive, null);
});
