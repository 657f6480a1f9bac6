/** `skerryd backup` and `skerryd restore`, killed in the middle. */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '../../src/config.ts';
import { findServiceRow } from '../../src/store/service/service.ts';
import { type BackupFolder, createBackupFolder, openRestoreTarget, runBackup } from '../support/backups.ts';
import { FULL_ONLY } from '../support/runs.ts';
import { killLeftovers, spawnSkerryd } from '../support/skerryd-process.ts';
import { startWorld, type World } from '../support/world.ts';

/** A backup and a restore of so many rows take seconds. */
const ROWS = 1_000_000;
const WITHIN_MS = 60_000;
const POLL_MS = 5;

let world: World;
let archives: BackupFolder;
let env: Record<string, string>;
before(async () => {
  if (FULL_ONLY.skip) return;
  archives = await createBackupFolder();
  world = await startWorld({ SKERRY_BACKUP_RECIPIENTS: archives.recipient });
  const { auditHeadsFile } = world.opened.service.settings;
  env = {
    SKERRY_BACKUP_RECIPIENTS: archives.recipient,
    SKERRY_DATA_DIR: join(auditHeadsFile ?? '', '..'),
    SKERRY_LOG_LEVEL: 'error',
  };
  await world.opened.db.run(
    `insert into beats (name, due_at) select 'test ' || n, now() from generate_series(1, $1::int) n`,
    [ROWS],
  );
});
after(async () => {
  killLeftovers();
  await world?.close();
  await archives?.remove();
});

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; Date.now() < end; await pause(POLL_MS)) if (await isTrue()) return;
  assert.fail(`${what} did not happen`);
}

const urlOf = ({ host = '', user = '', database = '' }) =>
  `postgres:///${database}?host=${encodeURIComponent(host)}&user=${user}`;
const named = async (ending: string) =>
  (await readdir(archives.folder)).filter((name) => name.endsWith(ending));

test('a killed backup leaves no archive, and a killed restore an empty database', FULL_ONLY, async () => {
  const source = world.opened.db.settings;
  const database = String((await world.opened.db.row<{ d: string }>('select current_database() as d'))?.d);
  const url = urlOf({ host: String(source.host), user: String(source.user), database });
  const backup = spawnSkerryd(['backup', '--to', archives.folder], { ...env, DATABASE_URL: url });
  await until('a part of the archive', async () => {
    const [part] = await named('.part');
    return part !== undefined && (await stat(join(archives.folder, part))).size > 0;
  });
  await backup.stop('SIGKILL');
  assert.deepEqual(await named('.age'), []);

  const { code, text } = await runBackup(world.opened, '--to', archives.folder);
  assert.equal(code, 0, text);
  const file = /^wrote (.*)$/m.exec(text)?.[1] ?? '';
  const target = await openRestoreTarget();
  try {
    const into = urlOf(target.connection);
    const restore = spawnSkerryd(['restore', file, '--identity', archives.identityFile], {
      ...env,
      DATABASE_URL: into,
    });
    const copying = `select from pg_stat_activity
       where datname = current_database() and query like 'copy %from stdin' and state = 'active'`;
    await until('a copy', async () => (await target.db.rows(copying)).length > 0);
    await restore.stop('SIGKILL');
    await until('the end of the copy', async () => (await target.db.rows(copying)).length === 0);
    assert.equal(await findServiceRow(target.db), undefined);
    assert.deepEqual(await target.db.rows('select from customers union all select from beats'), []);
    const config = loadConfig({ SKERRY_DATA_DIR: env.SKERRY_DATA_DIR });
    const again = await target.restore(config, file, archives.identityFile);
    assert.equal(again.code, 0, again.text);
    const rows = await target.db.row<{ n: bigint }>(
      `select count(*) as n from beats where name like 'test %'`,
    );
    assert.equal(rows?.n, BigInt(ROWS));
  } finally {
    await target.close();
  }
});
