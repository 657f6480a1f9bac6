/** `skerryd backup create`: what it refuses, and how it ends. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, mock, test } from 'node:test';
import { to as copyTo } from 'pg-copy-streams';
import { performBackup, runAlone } from '../../../src/domain/upkeep/backups/perform.ts';
import type { BackupPlan } from '../../../src/domain/upkeep/backups/plan.ts';
import { removeLeftovers } from '../../../src/domain/upkeep/scratch.ts';
import type { ArchiveStore } from '../../../src/ports/archives.ts';
import { type BackupFolder, createBackupFolder, dumpManifest, runBackup } from '../../support/backups.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let archives: BackupFolder;
before(async () => {
  archives = await createBackupFolder();
  world = await startWorld({ SKERRY_BACKUP_RECIPIENTS: archives.recipient });
  await world.customer(0);
});
after(async () => {
  await world.close();
  await archives.remove();
});

test('a backup fails rather than leave out a table', async () => {
  const { db } = world.opened;
  await db.run('create schema other');
  try {
    await db.run('create table other.notes (id int)');
    const { code, text } = await runBackup(world.opened, '--to', archives.folder);
    assert.equal(code, 1, text);
    assert.match(text, /the table other\.notes, which backups do not include/);
  } finally {
    await db.run('drop schema other cascade');
  }
});

test('the rows of a backup are counted as they are read', async () => {
  // The server sends its count behind the rows, so it may come later than their end.
  const prototype = Object.getPrototypeOf(copyTo('')) as { handleCommandComplete(): void };
  const late = mock.method(prototype, 'handleCommandComplete', () => undefined);
  try {
    const customers = (await dumpManifest(world.opened.db)).tables.find(
      ({ name }) => name === 'public.customers',
    );
    assert.equal(customers?.rows, (await world.opened.db.rows('select from customers')).length);
    assert.ok(late.mock.callCount() > 90);
  } finally {
    late.mock.restore();
  }
});

test('a backup can be verified without a database, by its checksums', async () => {
  const { service } = world.opened;
  const backups = service.backups && { ...service.backups, scratchFolder: null };
  const open = { service: { ...service, backups } };
  const { code, text } = await runBackup(open, '--to', archives.folder, '--verify');
  assert.equal(code, 0, text);
  assert.match(text, /^verified: read back/m);
});

test('a backup that is stopped ends at once, and leaves no copy', async () => {
  const { service } = world.opened;
  const folder = join(archives.folder, 'scratch');
  const plan = { ...(service.backups as BackupPlan), scratchFolder: folder };
  const target = plan.openFolder(join(archives.folder, 'stopped'));
  const attempt = async (when: 'write' | 'read') => {
    const abort = new AbortController();
    const stopAt = (place: typeof when) => place === when && abort.abort();
    const stopping: ArchiveStore = {
      label: target.label,
      write: (id, content, bytes) =>
        target.write(
          id,
          stopBehindFirst(content, () => stopAt('write')),
          bytes,
        ),
      read: (id) => stopBehindFirst(target.read(id), () => stopAt('read')),
      list: () => target.list(),
      tidy: () => target.tidy(),
      remove: (id) => target.remove(id),
    };
    const { signal } = abort;
    await assert.rejects(performBackup(service, { plan, target: stopping, prove: true, signal }));
    assert.equal(signal.aborted, true);
  };
  await mkdir(folder);
  await attempt('write');
  assert.deepEqual(await target.list(), []);
  await attempt('read');
  assert.deepEqual(await readdir(folder), []);
  await mkdir(join(folder, 'backup-check-left'));
  assert.equal(await removeLeftovers(folder), true);
  assert.deepEqual(await readdir(folder), []);
});

async function* stopBehindFirst(content: AsyncIterable<Uint8Array>, stop: () => void) {
  for await (const chunk of content) {
    yield chunk;
    stop();
  }
}

test('a second backup waits for the first, and then gives up', async () => {
  const { service } = world.opened;
  await runAlone(service, async () => {
    const { code, text } = await runBackup(world.opened, '--to', archives.folder);
    assert.equal(code, 1);
    assert.match(text, /a backup is under way/);
  });
});

test('a backup appears only when it is complete', async () => {
  const folder = join(archives.folder, 'full');
  await writeFile(folder, 'not a folder');
  const { code, text } = await runBackup(world.opened, '--to', folder);
  assert.equal(code, 1);
  assert.match(text, /the backup failed: cannot write/);
  const made = await runBackup(world.opened, '--to', archives.folder);
  const file = /^wrote (.*)$/m.exec(made.text)?.[1] ?? '';
  const names = await readdir(archives.folder);
  assert.deepEqual(
    names.filter((name) => name.includes('part')),
    [],
  );
  const sum = await readFile(`${file}.sha256`, 'utf8');
  const { status } = spawnSync('sha256sum', ['-c'], { input: sum, cwd: archives.folder });
  assert.equal(status, 0);
});
