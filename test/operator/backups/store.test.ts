/** Backups in the store of files: written, listed without a database, and restored from there. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadConfig } from '../../../src/config.ts';
import { findRestoration } from '../../../src/store/service/restoration.ts';
import {
  type BackupFolder,
  createBackupFolder,
  openRestoreTarget,
  runBackup,
  runWithoutDatabase,
} from '../../support/backups.ts';
import { NO_RADOSGW, Radosgw } from '../../support/radosgw.ts';
import { FULL_ONLY } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';

describe('backups in the store', { skip: NO_RADOSGW || FULL_ONLY.skip }, () => {
  let store: Radosgw;
  let archives: BackupFolder;
  let world: World;
  before(async () => {
    store = await Radosgw.start();
    archives = await createBackupFolder();
    world = await startWorld({ ...store.env, SKERRY_BACKUP_RECIPIENTS: archives.recipient });
    await world.customer();
  });
  after(async () => {
    await world?.close();
    await store?.close();
    await archives?.remove();
  });

  it('a backup in the store is restored on a machine that has only the key and the identity', async () => {
    const written = await runBackup(world.opened, '--store', '--verify');
    assert.equal(written.code, 0, written.text);
    const [, name = ''] = /^wrote (\S+)$/m.exec(written.text) ?? [];
    const dataDir = join(world.opened.service.settings.auditHeadsFile ?? '', '..');
    const config = loadConfig({ ...store.env, SKERRY_DATA_DIR: dataDir });
    const stored = await runWithoutDatabase(config, 'stored');
    assert.ok(stored.text.includes(name), stored.text);
    const target = await openRestoreTarget();
    try {
      const absent = name.replace(/[0-9a-f]{12}$/, '000000000000');
      const missing = await target.restore(config, absent, archives.identityFile, '--store');
      assert.equal(missing.code, 1, missing.text);
      const restored = await target.restore(config, name, archives.identityFile, '--store');
      assert.equal(restored.code, 0, restored.text);
      assert.ok(await findRestoration(target.db));
      const emails = 'select email from customers order by id';
      assert.deepEqual(await target.db.rows(emails), await world.opened.db.rows(emails));
    } finally {
      await target.close();
    }
  });

  it('without a store, the flag names its setting', async () => {
    const config = loadConfig({ SKERRY_DATA_DIR: archives.folder });
    const refused = await runWithoutDatabase(config, 'stored');
    assert.equal(refused.code, 1);
    assert.match(refused.text, /SKERRY_S3_URL is not set/);
  });
});
