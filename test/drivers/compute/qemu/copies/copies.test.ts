/** Copies of snapshots between the folders of two QEMU hosts and a real S3 server. No guest runs. */
import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { S3Blobs } from '../../../../../src/drivers/blobs/s3.ts';
import { run } from '../../../../../src/drivers/compute/qemu/command.ts';
import { readCopy, writeCopy } from '../../../../../src/drivers/compute/qemu/copies/copy-record.ts';
import { openQemuCompute } from '../../../../../src/drivers/compute/qemu/driver.ts';
import { QemuHost, type QemuOptions } from '../../../../../src/drivers/compute/qemu/host.ts';
import { createQcow2, readDiskInfo } from '../../../../../src/drivers/compute/qemu/qcow2.ts';
import {
  readSnapshot,
  writeSnapshot,
} from '../../../../../src/drivers/compute/qemu/storage/snapshot-record.ts';
import { createLogger } from '../../../../../src/kernel/logger.ts';
import type { ComputeDriver } from '../../../../../src/ports/compute.ts';
import type { CopyProgress, PreparedCopy, SnapshotCopies } from '../../../../../src/ports/copies.ts';
import { findProgram, skipUnlessInstalled } from '../../../../support/installed-programs.ts';
import { NO_RADOSGW, Radosgw } from '../../../../support/radosgw.ts';
import { failsAs } from '../../compute-world.ts';

const MIB = 1024 ** 2;
const NO_QEMU = skipUnlessInstalled(findProgram(['qemu-img']), 'qemu-img is not installed');

interface Side {
  readonly host: QemuHost;
  driver: ComputeDriver & { readonly copies: SnapshotCopies };
}

describe('copies of snapshots of real disks', { skip: NO_RADOSGW || NO_QEMU }, () => {
  let folder: string;
  let store: Radosgw;
  let blobs: S3Blobs;
  let one: Side;
  let two: Side;
  let id: string;
  const machineId = 'owner';
  const fetched = { host: 'two', machineId, generation: 3, diskGb: 1, sizeGb: 0.5 };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-copies-'));
    await chmod(folder, 0o755);
    store = await Radosgw.start();
    const { url, bucket, accessKey, secretKey } = store;
    const place = { region: 'us-east-1', hostStyle: false, prefix: 'skerry-test' };
    blobs = new S3Blobs({ url, bucket, accessKey, secretKey, ...place });
    [one, two] = [await open('one'), await open('two')];
  });
  after(async () => {
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    id = randomUUID();
    await addSnapshot(id);
  });

  afterEach(async () => {
    for (const { driver } of [one, two]) await driver.removeSnapshot(id);
    assert.deepEqual([await leftovers(one), await leftovers(two)], [[], []]);
  });

  const optionsOf = (name: string): QemuOptions => ({
    ...{ dir: join(folder, name), hosts: [name], accelerator: 'tcg', netns: null },
    log: createLogger('silent'),
  });
  async function open(name: string): Promise<Side> {
    const host = new QemuHost(optionsOf(name));
    for (const each of ['images', 'snapshots'] as const)
      await mkdir(host.layout[each](), { recursive: true });
    return { host, driver: openQemuCompute(optionsOf(name)) };
  }
  /** As if its process had been killed, and started again. */
  const restart = (side: Side, name: string) => {
    side.driver = openQemuCompute(optionsOf(name));
  };

  /** An overlay of an image, each with 24 MiB that cannot be compressed. */
  async function addSnapshot(snapshotId: string): Promise<void> {
    const { layout } = one.host;
    const raw = join(folder, 'raw');
    await writeFile(raw, randomBytes(24 * MIB));
    await truncate(raw, 64 * MIB);
    const image = layout.image(createHash('sha256').update(snapshotId).digest('hex'));
    await run('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, image]);
    const path = layout.snapshot(snapshotId, 'qcow2');
    await createQcow2(path, { backing: image, sizeBytes: null });
    const data = join(folder, 'data');
    await writeFile(data, randomBytes(24 * MIB));
    await run('qemu-io', ['-f', 'qcow2', '-c', `write -s ${data} 32M 24M`, path]);
    const sizes = { generation: 3, diskGb: 1, sizeGb: 0.5 } as const;
    const state = { state: 'ready', how: 'job', begun: true } as const;
    await writeSnapshot(layout, { id: snapshotId, machineId, ...sizes, ...state });
  }

  async function prepare(side = one): Promise<PreparedCopy> {
    for (;;) {
      const prepared = await side.driver.copies.prepareCopy(id);
      if (prepared !== null) return prepared;
    }
  }

  async function finished(call: () => Promise<CopyProgress>): Promise<CopyProgress> {
    for (;;) {
      const progress = await call();
      if (progress.state !== 'working') return progress;
    }
  }

  /** Sends the parts that the store lacks, `limit` of them at most. Returns their numbers. */
  async function send(file: PreparedCopy, limit = Number.POSITIVE_INFINITY): Promise<number[]> {
    const upload = await blobs.copies.open(id);
    const missing = file.partMd5s.map((md5, index) => ({ md5, number: index + 1 }));
    const parts = await Promise.all(
      missing
        .filter(({ number }) => !upload.parts.has(number))
        .slice(0, limit)
        .map(async ({ number, md5 }) => {
          const offset = (number - 1) * file.partBytes;
          const sizeBytes = Math.min(file.partBytes, file.sizeBytes - offset);
          return { offset, sizeBytes, md5, number, url: await upload.signPart(number, { sizeBytes, md5 }) };
        }),
    );
    const progress = await finished(() => one.driver.copies.sendCopy(id, parts));
    assert.equal(progress.state, 'done', progress.message ?? '');
    return parts.map(({ number }) => number);
  }

  async function storeCopy(): Promise<PreparedCopy> {
    const file = await prepare();
    await send(file);
    await (await blobs.copies.open(id)).complete(file);
    return file;
  }

  const leftovers = (side: Side) => readdir(side.host.layout.copies()).catch(() => []);
  const fetch = async (file: PreparedCopy) =>
    await two.driver.copies.fetchCopy(id, fetched, {
      ...{ sizeBytes: file.sizeBytes, sha256: file.sha256, url: await blobs.copies.signRead(id) },
    });

  it('a copy has the content of the image, and continues after both processes were killed', async () => {
    const before = await prepare();
    assert.ok(before.partMd5s.length > 2, 'too small to be continued');
    assert.deepEqual(await send(before, 1), [1]);
    restart(one, 'one');
    const file = await prepare();
    assert.deepEqual(file, before);
    assert.equal((await send(file)).includes(1), false, 'a part was sent twice');
    await (await blobs.copies.open(id)).complete(file);
    assert.equal(await blobs.copies.has(id, file), true);
    for (const _ of ['once', 'again']) await one.driver.copies.forgetCopy(id);
    assert.deepEqual(await leftovers(one), []);
    const progress = await finished(() => fetch(file));
    assert.equal(progress.state, 'done', progress.message ?? '');
    const [source, copy] = [one, two].map(({ host }) => host.layout.snapshot(id, 'qcow2'));
    await run('qemu-img', ['compare', '-f', 'qcow2', '-F', 'qcow2', source ?? '', copy ?? '']);
    assert.equal((await readDiskInfo(two.host, copy ?? '')).backing, null);
    const { sizeGb, state } = (await readSnapshot(two.host.layout, id)) ?? assert.fail();
    assert.deepEqual([sizeGb, state], [0.5, 'ready']);
    assert.deepEqual(await leftovers(two), []);
    assert.equal((await finished(() => fetch(file))).state, 'done');
  });

  it('a fetch continues behind what arrived, and takes no other bytes', async () => {
    const file = await storeCopy();
    const { layout } = two.host;
    const [Key = ''] = (await store.list()).filter((name) => name.endsWith(id));
    await mkdir(layout.copies(), { recursive: true });
    await writeFile(layout.copy(id, 'part'), randomBytes(5 * MIB));
    const wrong = await finished(() => fetch(file));
    assert.deepEqual([wrong.state, /another SHA-256/.test(wrong.message ?? '')], ['failed', true]);
    assert.equal(existsSync(layout.copy(id, 'part')), false);
    const client = store.client();
    await client.send(new PutObjectCommand({ Bucket: store.bucket, Key, Body: randomBytes(MIB) }));
    client.destroy();
    const short = await finished(() => fetch(file));
    assert.deepEqual([short.state, short.message], ['failed', 'the copy ended early']);
    assert.equal(await readSnapshot(layout, id), undefined);
  });

  it('a store that is away fails an attempt, and the next one goes on', async () => {
    const file = await prepare();
    const upload = await blobs.copies.open(id);
    const [md5 = ''] = file.partMd5s;
    const part = { offset: 0, sizeBytes: file.partBytes, md5 };
    const url = await upload.signPart(1, part);
    await store.stop();
    const failed = await finished(() => one.driver.copies.sendCopy(id, [{ ...part, url }]));
    assert.equal(failed.state, 'failed');
    assert.doesNotMatch(failed.message ?? '', /127\.0\.0\.1|Signature|http:/);
    await store.resume();
    const other = createHash('md5').update('other').digest('hex');
    const refused = await finished(() => one.driver.copies.sendCopy(id, [{ ...part, md5: other, url }]));
    assert.match(refused.message ?? '', /HTTP 40\d/);
    await send(file);
    await upload.complete(file);
    await blobs.copies.remove(id);
  });

  it('a snapshot that is deleted while it is fetched leaves nothing', async () => {
    const file = await storeCopy();
    const path = two.host.layout.snapshot(id, 'qcow2');
    for (const waitMs of [0, 20, 40, 60, 80, 100, 150, 200]) {
      let hasEnded = false;
      const fetching = fetch(file).finally(() => {
        hasEnded = true;
      });
      fetching.catch(() => undefined);
      while (!hasEnded && (await leftovers(two)).length === 0 && !existsSync(path)) await pause(1);
      await pause(waitMs);
      await two.driver.removeSnapshot(id);
      await fetching.catch(() => undefined);
      assert.equal(existsSync(path), false, `after ${waitMs} ms`);
      assert.equal(await readSnapshot(two.host.layout, id), undefined);
      assert.deepEqual(await leftovers(two), []);
    }
  });

  it('a file that a kill left at the end of a fetch is deleted', async () => {
    const { layout } = two.host;
    await mkdir(layout.copies(), { recursive: true });
    await writeCopy(layout, { id, maxBytes: 9, prepared: null });
    await writeFile(layout.snapshot(id, 'qcow2'), 'content');
    await two.driver.removeSnapshot(id);
    assert.equal(existsSync(layout.snapshot(id, 'qcow2')), false);
    assert.deepEqual(await leftovers(two), []);
  });

  it('a snapshot that is deleted takes its copy along', async () => {
    await one.driver.copies.prepareCopy(id);
    await one.driver.removeSnapshot(id);
    assert.deepEqual(await leftovers(one), []);
    await failsAs('refused', one.driver.copies.prepareCopy(id));
    assert.equal(await readCopy(one.host.layout, id), undefined);
  });
});
