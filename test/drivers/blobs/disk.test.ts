import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { DiskBlobs } from '../../../src/drivers/blobs/disk.ts';
import { BlobStoreFullError } from '../../../src/ports/blobs.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';

const folder = join(scratchFolder(), 'images');
const blobs = new DiskBlobs({ folder, reserveBytes: 0 });
after(() => rm(join(folder, '..'), { recursive: true, force: true }));

const names = async () => (await readdir(folder)).sort();

describe('blobs on disk', () => {
  it('a blob has its final name only when it is complete, and only its owner can read it', async () => {
    const key = randomUUID();
    const pieces = [Buffer.alloc(300_000, 1), Buffer.from('the end')];
    const writer = await blobs.createWriter(key, 0);
    for (const piece of pieces) await writer.write(piece);
    assert.deepEqual(await names(), [`part-${key}`]);
    const whole = Buffer.concat(pieces);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    assert.deepEqual(await writer.finish(), { sha256, sizeBytes: whole.length });
    assert.deepEqual(await names(), [key]);
    assert.deepEqual(await readFile(blobs.path(key)), whole);
    assert.equal((await stat(blobs.path(key))).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    await blobs.remove(key);
    await blobs.remove(key);
    assert.deepEqual(await names(), []);
  });

  it('an aborted blob leaves no file, finished or not', async () => {
    const begun = await blobs.createWriter(randomUUID(), 0);
    await begun.write(Buffer.alloc(10));
    await begun.abort();
    await begun.abort();
    const finished = await blobs.createWriter(randomUUID(), 0);
    await finished.finish();
    await finished.abort();
    assert.deepEqual(await names(), []);
  });

  it('a partial blob that a killed process left is removed by its key', async () => {
    const key = randomUUID();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `part-${key}`), 'half');
    await blobs.remove(key);
    assert.deepEqual(await names(), []);
  });

  it('a blob is refused if the disk has too little space', async () => {
    const full = new DiskBlobs({ folder, reserveBytes: Number.MAX_SAFE_INTEGER });
    await assert.rejects(full.createWriter(randomUUID(), 0), BlobStoreFullError);
    await assert.rejects(blobs.createWriter(randomUUID(), 1024 ** 6), BlobStoreFullError);
    assert.deepEqual(await names(), []);
  });

  it('an invalid key never becomes a path', async () => {
    for (const name of ['../secret', 'a', '', `${randomUUID()}/..`, `../${randomUUID()}`]) {
      assert.throws(() => blobs.path(name), /invalid blob key/);
      await assert.rejects(blobs.createWriter(name, 0));
      await assert.rejects(blobs.remove(name));
    }
  });
});
