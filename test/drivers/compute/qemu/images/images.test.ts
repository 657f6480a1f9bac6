import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { QemuHost } from '../../../../../src/drivers/compute/qemu/host.ts';
import { QemuImages } from '../../../../../src/drivers/compute/qemu/images/images.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import type { BaseImage } from '../../../../../src/ports/compute.ts';
import { findProgram, skipUnlessInstalled } from '../../../../support/installed-programs.ts';
import { failsAs } from '../../compute-world.ts';

const skip = skipUnlessInstalled(findProgram(['qemu-img']), 'qemu-img is not installed');

describe('imported disks', { skip }, () => {
  let folder = '';
  let host: QemuHost;
  let images: QemuImages;
  const at = (name: string) => join(folder, name);
  const qemuImg = (...words: string[]) => run('qemu-img', words);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-images-'));
    host = new QemuHost({
      dir: at('data'),
      hosts: ['one'],
      accelerator: 'tcg',
      netns: null,
      log: createLogger('silent'),
    });
    images = new QemuImages(host);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Writes a raw disk of this size with a boot signature. */
  async function rawDisk(name: string, sizeBytes = 1024 ** 2): Promise<string> {
    const disk = Buffer.alloc(sizeBytes);
    disk.write(name, 0);
    disk.set([0x55, 0xaa], 510);
    await writeFile(at(name), disk);
    return at(name);
  }
  const add = (path: string, sha256: string | null = null) => images.add(path, { sha256 });
  async function refused(path: string, words: RegExp): Promise<void> {
    await failsAs('refused', add(path));
    await assert.rejects(add(path), words);
  }
  async function sha256Of(path: string): Promise<string> {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  }

  it('an import is named by the SHA-256 of its file, stored as qcow2, and repeatable', async () => {
    assert.deepEqual(await new QemuImages(host).list(), []);
    const path = await rawDisk('a raw disk');
    const sha256 = await sha256Of(path);
    const wanted: BaseImage = { sha256, sizeBytes: 1024 ** 2, diskGb: 1 };
    for (const expected of [null, sha256]) assert.deepEqual(await add(path, expected), wanted);
    assert.deepEqual(await images.list(), [wanted]);
    await qemuImg('compare', '-f', 'raw', '-F', 'qcow2', path, host.layout.image(sha256));
  });

  it('a qcow2 file can be imported and keeps the size of its disk', async () => {
    const raw = await rawDisk('inside');
    await qemuImg('convert', '-f', 'raw', '-O', 'qcow2', raw, at('disk.qcow2'));
    await qemuImg('resize', '-f', 'qcow2', at('disk.qcow2'), `${2 * 1024 ** 3 + 512}`);
    const { sha256, diskGb } = await add(at('disk.qcow2'));
    assert.deepEqual([sha256, diskGb], [await sha256Of(at('disk.qcow2')), 3]);
    await qemuImg('compare', '-f', 'qcow2', '-F', 'qcow2', at('disk.qcow2'), host.layout.image(sha256));
  });

  it('a file with another checksum is refused and leaves nothing behind', async () => {
    const before = await readdir(host.layout.images());
    const path = await rawDisk('another');
    await failsAs('refused', add(path, '0'.repeat(64)));
    assert.deepEqual(await readdir(host.layout.images()), before);
  });

  it('an import of anything but a complete disk is refused with a reason', async () => {
    await writeFile(at('text'), 'x'.repeat(4096));
    await refused(at('text'), /not a disk/);
    await writeFile(at('empty'), '');
    await refused(at('empty'), /not a disk/);
    await refused(await rawDisk('cut off', 1024 ** 2 - 100), /truncated/);
    await writeFile(at('broken'), Buffer.concat([Buffer.from('QFI\xfb', 'latin1'), Buffer.alloc(600)]));
    await refused(at('broken'), /corrupt/);
    await refused(at('not-there'), /file not found/);
    await refused(folder, /not a file/);
    await qemuImg('create', '-q', '-f', 'vmdk', at('disk.vmdk'), '1M');
    await refused(at('disk.vmdk'), /not a disk/);
  });

  it('a disk that references other files is refused, and the error does not reveal their paths', async () => {
    const raw = await rawDisk('secret');
    await qemuImg('create', '-q', '-f', 'qcow2', '-b', raw, '-F', 'raw', at('over.qcow2'));
    await refused(at('over.qcow2'), /^ComputeError: the disk references another file; [^/]*$/);
    const apart = `data_file=${at('apart')}`;
    await qemuImg('create', '-q', '-f', 'qcow2', '-o', apart, at('apart.qcow2'), '1M');
    await refused(at('apart.qcow2'), /another file/);
  });

  it('only an imported disk can become the rescue system', async () => {
    assert.equal(await images.rescue(), null);
    await failsAs('refused', images.setRescue('f'.repeat(64)));
    await failsAs('refused', images.setRescue('../machines'));
    const image = await add(await rawDisk('rescue'));
    await images.setRescue(image.sha256);
    assert.deepEqual(await new QemuImages(host).rescue(), image);
  });

  it('an interrupted import does not count, and a later import deletes its files', async () => {
    const path = await rawDisk('killed');
    const sha256 = await sha256Of(path);
    const images = host.layout.images();
    await writeFile(join(images, `${sha256}.json`), '{}');
    const left = join(images, '.import-left');
    await mkdir(left);
    await utimes(left, 0, 0);
    assert.ok(!(await new QemuImages(host).list()).some((image) => image.sha256 === sha256));
    assert.equal((await add(path)).sizeBytes, 1024 ** 2);
    assert.ok(!(await readdir(images)).includes('.import-left'));
  });
});
