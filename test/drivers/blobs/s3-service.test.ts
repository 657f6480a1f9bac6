/** The whole service with a real S3 server: customers' images from their upload to a machine's drive. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { readGauges } from '../../../src/domain/health/metrics.ts';
import { checkFiles, moveFiles, sweepFiles } from '../../../src/domain/images/store.ts';
import { newId, parseId } from '../../../src/kernel/ids.ts';
import type { OpenService } from '../../../src/operator/context.ts';
import { runCommand } from '../../operator/operator-fixture.ts';
import { isoFile } from '../../support/iso.ts';
import { NO_RADOSGW, Radosgw } from '../../support/radosgw.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { machineSpec } from '../compute/compute-world.ts';

const MIB = 1024 ** 2;
const DAY_MS = 86_400_000;
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function eventually(isTrue: () => Promise<boolean>): Promise<void> {
  const until = performance.now() + 30_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < until, 'it did not happen');
    await pause(50);
  }
}

describe('images in an S3 store', { skip: NO_RADOSGW }, () => {
  let folder: string;
  let store: Radosgw;
  let world: World;
  let token: string;
  let api: V1Client;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skerry-s3-service-'));
    store = await Radosgw.start();
    world = await startWorld({
      ...store.env,
      SKERRY_COMPUTE: 'qemu',
      SKERRY_QEMU_DIR: join(folder, 'qemu'),
      SKERRY_QEMU_HOSTS: 'one',
      SKERRY_QEMU_ACCELERATOR: 'tcg',
      SKERRY_QEMU_NETNS: 'skerry-test-nowhere',
    });
    token = await createApiToken(await world.customer());
    api = V1Client.forUrl(world.url, token);
  });
  after(async () => {
    await world?.close();
    await store?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function upload(
    content: Uint8Array,
    name = 'own',
  ): Promise<{ status: number; id: string; code: string }> {
    const form = new FormData();
    form.append('name', name);
    form.append('file', new Blob([Buffer.from(content)]), 'own.iso');
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${world.url}/v1/images`, { method: 'POST', headers, body: form });
    const body = (await response.json()) as { id?: string; error?: { code: string } };
    return { status: response.status, id: body.id ?? '', code: body.error?.code ?? '' };
  }
  const keyOf = (id: string) => parseId('customImage', id) ?? assert.fail();
  const stored = () => store.list();
  const isStored = async (id: string) => (await stored()).some((name) => name.endsWith(keyOf(id)));
  const operator = async (...argv: string[]) => {
    const { service } = world.opened;
    const open = { service, register: async () => undefined, carryOut: async () => undefined, coins: null };
    return await runCommand(open as unknown as OpenService, argv);
  };
  const imagesPath = () => join(world.opened.service.settings.auditHeadsFile ?? '', '..', 'images');
  const imagesFolder = () => {
    const { earlier } = world.opened.service.blobs;
    assert.ok(earlier);
    return earlier;
  };

  it('an upload becomes an object, and the deletion of the image deletes it', async () => {
    const content = isoFile(9 * MIB);
    const { status, id } = await upload(content);
    assert.equal(status, 201);
    const name = (await stored()).find((each) => each.endsWith(keyOf(id)));
    assert.match(name ?? '', /^skerry-[0-9a-f-]{36}\/files\//);
    assert.deepEqual(await imagesFolder().keys(), []);
    const { skerry_image_files: files, skerry_image_files_bytes: bytes } = await readGauges(
      world.opened.service,
    );
    assert.deepEqual([files[0]?.value, bytes[0]?.value], [1, content.length]);
    assert.equal((await api.delete(`/images/${id}`)).status, 204);
    await world.settle();
    assert.deepEqual(await stored(), []);
  });

  it('a file that is no image leaves nothing behind', async () => {
    assert.equal((await upload(Buffer.alloc(100_000))).status, 422);
    await world.settle();
    assert.deepEqual(await stored(), []);
  });

  it('without the store only uploads are refused, and deletions are caught up on', async () => {
    const { id } = await upload(isoFile(MIB));
    await store.stop();
    const refused = await upload(isoFile(MIB));
    assert.deepEqual([refused.status, refused.code], [503, 'maintenance']);
    assert.equal((await api.get('/images')).status, 200);
    assert.equal((await api.get('/servers')).status, 200);
    assert.equal((await fetch(`${world.url}/readyz`)).status, 200);
    assert.equal((await api.delete(`/images/${id}`)).status, 204);
    const [finding] = await checkFiles(world.opened.service);
    assert.equal(finding?.level, 'fail');
    assert.match(finding?.message ?? '', /SKERRY_S3_URL is unavailable/);
    await store.resume();
    assert.deepEqual((await checkFiles(world.opened.service))[0]?.level, 'ok');
    await eventually(async () => {
      await world.advance(60);
      return !(await isStored(id));
    });
  });

  it('a machine gets its image from the store, and no other bytes than were uploaded', async () => {
    const { service } = world.opened;
    const install = async (content: Uint8Array) => {
      const image = {
        ...machineSpec({ id: 'x', host: 'one' }).image,
        iso: { path: null, sha256: digest(content) },
      };
      const spec = machineSpec({ id: newId(new Date()), host: 'one', image });
      return await service.compute.ensure(spec).then(
        () => null,
        (error: { fault?: string; message: string }) => error,
      );
    };
    const file = (content: Uint8Array) => join(folder, 'qemu', 'iso', `${digest(content)}.iso`);
    const content = isoFile(3 * MIB);
    const { id } = await upload(content);
    assert.equal((await install(content))?.fault, 'waiting');
    await eventually(async () => (await readFile(file(content)).catch(() => null))?.equals(content) ?? false);
    assert.notEqual((await install(content))?.fault, 'waiting');

    const other = isoFile(2 * MIB + 1);
    const damaged = await upload(other);
    const name = (await stored()).find((each) => each.endsWith(keyOf(damaged.id)));
    const client = store.client();
    await client.send(
      new PutObjectCommand({ Bucket: store.bucket, Key: name, Body: isoFile(2 * MIB + 2).subarray(1) }),
    );
    client.destroy();
    let last = await install(other);
    await eventually(async () => {
      last = await install(other);
      return last?.fault !== 'waiting';
    });
    assert.deepEqual([last?.fault, /SHA-256/.test(last?.message ?? '')], ['refused', true]);
    assert.ok(!(await readdir(join(folder, 'qemu', 'iso'))).includes(`${digest(other)}.iso`));
    assert.deepEqual(await readdir(join(folder, 'qemu', 'incoming')), []);
    for (const each of [id, damaged.id]) await api.delete(`/images/${each}`);
    await world.settle();
    assert.deepEqual(await stored(), []);
  });

  it('an object that nothing refers to is deleted after a week', async () => {
    const { service } = world.opened;
    const { id } = await upload(isoFile(MIB));
    const lost = await service.blobs.createWriter(newId(new Date()), 0);
    await lost.write(Buffer.alloc(9 * MIB));
    const whole = await service.blobs.createWriter(newId(new Date()), 0);
    await whole.finish();
    assert.equal((await stored()).length, 3);
    const [key] = (await stored())
      .map((name) => name.split('/').at(-1) ?? '')
      .filter((each) => each !== keyOf(id));
    const onDisk = join(imagesPath(), key ?? '');
    await mkdir(imagesPath(), { recursive: true });
    await writeFile(onDisk, 'x');
    assert.equal(await sweepFiles(service, new Date(Date.now() + 6 * DAY_MS)), 0);
    assert.equal(await sweepFiles(service, new Date(Date.now() + 8 * DAY_MS)), 2);
    assert.equal((await stored()).length, 1);
    assert.ok(await isStored(id));
    assert.equal(await readFile(onDisk, 'utf8'), 'x');
    await rm(onDisk);
    await api.delete(`/images/${id}`);
    await world.settle();
  });

  it('files on the disk stay in use until a command moves them, which can be repeated', async () => {
    const { service } = world.opened;
    const contents = [isoFile(17 * MIB), isoFile(MIB), isoFile(MIB + 5)] as const;
    const ids: string[] = [];
    for (const content of contents) ids.push((await upload(content)).id);
    const keys = ids.map(keyOf);
    // As before the store was set.
    const images = imagesPath();
    await mkdir(images, { recursive: true });
    for (const [index, key] of keys.entries()) {
      await service.blobs.remove(key);
      await writeFile(join(images, key), contents[index] ?? '');
    }
    assert.equal(service.blobs.path(keys[0] ?? ''), join(images, keys[0] ?? ''));
    await writeFile(join(images, keys[2] ?? ''), 'damaged');
    const unknown = newId(new Date());
    await writeFile(join(images, unknown), 'x');
    assert.match((await checkFiles(service))[1]?.message ?? '', /^4 files are still on this machine/);

    await store.stop();
    const failed = await operator('images', 'move');
    assert.notEqual(failed.code, 0);
    assert.match(failed.err, /SKERRY_S3_URL .*Run the command again/);
    assert.equal((await readdir(images)).length, 4);
    await store.resume();
    const moved = await operator('images', 'move');
    assert.notEqual(moved.code, 0);
    assert.match(moved.out, /2 moved, 1 unknown, 1 damaged/);
    assert.deepEqual((await readdir(images)).sort(), [keys[2], unknown].sort());
    assert.equal(service.blobs.path(keys[0] ?? ''), null);
    const pieces: Uint8Array[] = [];
    for await (const piece of service.blobs.read(keys[0] ?? '', 0)) pieces.push(piece);
    assert.equal(digest(Buffer.concat(pieces)), digest(contents[0]));
    const { earlier = assert.fail(), stored: objects = assert.fail() } = service.blobs;
    const deletedMeanwhile = {
      keys: async () => [keys[0] ?? ''],
      move: async (key: string, sha256: string) => {
        await api.delete(`/images/${ids[0]}`);
        await world.settle();
        await writeFile(join(images, key), contents[0]);
        return await earlier.move(key, sha256);
      },
    };
    const blobs = { stored: objects, earlier: deletedMeanwhile };
    for await (const { outcome } of moveFiles({ db: service.db, blobs })) assert.equal(outcome, 'unknown');
    assert.equal(await isStored(ids[0] ?? ''), false);
    for (const id of ids) await api.delete(`/images/${id}`);
    await world.settle();
    assert.deepEqual(await readdir(images), [unknown]);
    assert.deepEqual(await stored(), []);
  });
});

describe('a service whose store is away', () => {
  it('starts, answers, and keeps the secret of its settings', async () => {
    const world = await startWorld({
      SKERRY_S3_URL: 'http://127.0.0.1:1',
      SKERRY_S3_BUCKET: 'files',
      SKERRY_S3_ACCESS_KEY: 'KEY',
      SKERRY_S3_SECRET_KEY: 'canary-of-a-secret',
    });
    try {
      const customer = await world.customer();
      const api = V1Client.forUrl(world.url, await createApiToken(customer));
      assert.equal((await api.get('/images')).status, 200);
      assert.equal((await fetch(`${world.url}/readyz`)).status, 200);
      const error = await world.opened.service.blobs.check().catch((caught: unknown) => caught);
      assert.doesNotMatch(JSON.stringify(error) + String(error), /canary/);
    } finally {
      await world.close();
    }
  });
});
