import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { createImage } from '../../../src/domain/images/create.ts';
import {
  appendPart,
  beginPartUpload,
  completePartUpload,
  discardPartUpload,
  getUnfinishedUpload,
  listUnfinishedUploads,
  type PartUpload,
} from '../../../src/domain/images/parts.ts';
import { abandonUploads } from '../../../src/domain/images/remove.ts';
import { beginUpload } from '../../../src/domain/images/upload.ts';
import { DiskBlobs } from '../../../src/drivers/blobs/disk.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { newId, parseId } from '../../../src/kernel/ids.ts';
import { LIMITS, QUOTAS } from '../../../src/spec/limits.ts';
import { isoFile } from '../../support/iso.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const HOUR_S = 3600;
const GIB = 1024 ** 3;
const FILE = Buffer.from(isoFile(100_000));
const SHA256 = createHash('sha256').update(FILE).digest('hex');

let world: TestService;
let service: Service;
let actor: CustomerActor;
let folder: string;
before(async () => {
  world = await startTestService();
  service = world.service;
  folder = dirname(service.blobs.path(newId(new Date())) ?? '');
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer();
});

const begin = (sizeBytes = FILE.length, fileKey = 'a') =>
  beginPartUpload(service, actor, { fileKey, sizeBytes });

/** Without moving the clock. */
const runDue = () => world.runner.runDue(performance.now() + 5_000);

async function* inPieces(bytes: Uint8Array, until = Number.POSITIVE_INFINITY): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 10_000) {
    if (at >= until) throw new Failure('bad_request', {}, 'The connection closed.');
    yield bytes.subarray(at, at + 10_000);
  }
}

function append(upload: PartUpload, from: number, to = FILE.length, by = actor): Promise<number> {
  const part = { id: upload.id, offset: from, sizeBytes: to - from };
  return appendPart(service, by, part, inPieces(FILE.subarray(from, to)));
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => 'none',
    (error: unknown) => (error instanceof Failure ? error.code : String(error)),
  );
}

const receivedBytes = async ({ id }: PartUpload) =>
  (await getUnfinishedUpload(service, actor, id)).receivedBytes;
const storedId = ({ id }: { readonly id: string }) => parseId('customImage', id) ?? assert.fail('not an id');
const files = async () => (await readdir(folder)).map((name) => name.replace('part-', ''));

async function complete({ id }: PartUpload, fields: { name: string; value: string }[] = []) {
  const file = (await completePartUpload(service, actor, id)) ?? assert.fail('no such upload');
  try {
    return await createImage(service, actor, { ...file, discard: file.release, fields, files: 1 });
  } finally {
    await file.release();
  }
}

describe('an upload in parts', () => {
  it('parts become an image with the hash of the whole file, and the upload is gone', async () => {
    const upload = await begin();
    assert.equal(await append(upload, 0, 40_000), 40_000);
    assert.equal(await append(upload, 40_000), FILE.length);
    const image = await complete(upload);
    const row = await world.db.row<{ sha256: string }>('select sha256 from images where id = $1', [
      storedId(image),
    ]);
    assert.equal(row?.sha256, SHA256);
    assert.deepEqual(await readFile(service.blobs.path(storedId(image)) ?? ''), FILE);
    assert.deepEqual(await listUnfinishedUploads(service, actor), []);
    assert.equal(await completePartUpload(service, actor, upload.id), null);
    world.clock.advanceS(25 * HOUR_S);
    await runDue();
    assert.ok((await files()).includes(storedId(image)), 'the task of the upload leaves the image alone');
  });

  it('a part that ends early counts as far as it arrived, and garbage behind it is overwritten', async () => {
    const upload = await begin();
    const part = { id: upload.id, offset: 0, sizeBytes: FILE.length };
    assert.equal(await refusal(appendPart(service, actor, part, inPieces(FILE, 30_000))), 'bad_request');
    assert.equal(await receivedBytes(upload), 30_000);
    // A process that was killed in the middle of the next part.
    await writeFile(
      `${folder}/part-${storedId(upload)}`,
      Buffer.concat([FILE.subarray(0, 30_000), Buffer.alloc(9_999, 7)]),
    );
    await append(upload, 30_000);
    await complete(upload);
    assert.deepEqual(await readFile(service.blobs.path(storedId(upload)) ?? ''), FILE);
  });

  it('a part at another offset, too long, or empty is refused and changes nothing', async () => {
    const upload = await begin();
    await append(upload, 0, 50_000);
    for (const offset of [0, 40_000, 50_001]) {
      assert.equal(await refusal(append(upload, offset, 60_000)), 'conflict_state');
    }
    const part = { id: upload.id, offset: 50_000 };
    for (const sizeBytes of [0, FILE.length, LIMITS.imageUploadPartBytes + 1])
      assert.equal(
        await refusal(appendPart(service, actor, { ...part, sizeBytes }, inPieces(FILE))),
        'bad_request',
      );
    const longer = inPieces(FILE.subarray(0, 20_000));
    assert.equal(
      await refusal(appendPart(service, actor, { ...part, sizeBytes: 5_000 }, longer)),
      'bad_request',
    );
    assert.equal(await receivedBytes(upload), 50_000);
    assert.equal(await refusal(complete(upload)), 'conflict_state');
  });

  it('of two parts at the same offset, one is appended', async () => {
    const upload = await begin();
    const outcomes = await Promise.all([1, 2, 3].map(() => refusal(append(upload, 0))));
    assert.deepEqual(outcomes.sort(), ['conflict_state', 'conflict_state', 'none']);
    await complete(upload);
    assert.deepEqual(await readFile(service.blobs.path(storedId(upload)) ?? ''), FILE);
  });

  it('a writer whose lease was taken over confirms nothing', async () => {
    const upload = await begin();
    async function* slow() {
      yield FILE.subarray(0, 20_000);
      // As if this process had stopped for longer than its lease.
      await world.db.run(`update image_uploads set alive_until = now() - interval '1 second'`);
      await append(upload, 0, 50_000);
      yield FILE.subarray(20_000, 30_000);
    }
    const part = { id: upload.id, offset: 0, sizeBytes: 30_000 };
    assert.equal(await refusal(appendPart(service, actor, part, slow())), 'maintenance');
    assert.equal(await receivedBytes(upload), 50_000);
    await runDue();
    await append(upload, 50_000);
    await complete(upload);
  });

  it('another customer sees no upload, and can neither append to it nor discard it', async () => {
    const upload = await begin();
    const other = await world.fixtures.addCustomer();
    assert.equal(await refusal(getUnfinishedUpload(service, other, upload.id)), 'not_found');
    assert.equal(await refusal(append(upload, 0, 10, other)), 'not_found');
    assert.equal(await refusal(discardPartUpload(service, other, upload.id)), 'not_found');
    assert.equal(await completePartUpload(service, other, upload.id), null);
    assert.deepEqual(await listUnfinishedUploads(service, other), []);
  });

  it('the same file finds its upload again, and other files use up the uploads at a time', async () => {
    const upload = await begin();
    await append(upload, 0, 10_000);
    assert.deepEqual(
      { ...(await begin()), expiresAt: null },
      { ...upload, receivedBytes: 10_000, expiresAt: null },
    );
    await begin(FILE.length, 'b');
    assert.equal(await refusal(begin(FILE.length, 'c')), 'conflict_state');
    assert.equal(
      await refusal(beginUpload(service, actor, { atLeastBytes: 0, key: undefined })),
      'conflict_state',
    );
    await discardPartUpload(service, actor, upload.id);
    await begin(FILE.length, 'c');
  });

  it('limits of size and quota hold, with the bytes that other uploads declared', async () => {
    assert.equal(await refusal(begin(LIMITS.imageUploadMaxBytes + 1)), 'invalid_request');
    assert.equal(await refusal(begin(0)), 'required');
    const quotas = { ...QUOTAS, customImagesGb: 1 };
    const small = { ...service, settings: { ...service.settings, quotas } };
    const beginSmall = (fileKey: string, sizeBytes: number) =>
      refusal(beginPartUpload(small, actor, { fileKey, sizeBytes }));
    assert.equal(await beginSmall('a', GIB + 1), 'limit_reached');
    assert.equal(await beginSmall('a', GIB / 2), 'none');
    assert.equal(await beginSmall('b', GIB / 2 + 1), 'limit_reached');
    const full = new DiskBlobs({ folder, reserveBytes: Number.MAX_SAFE_INTEGER });
    const [upload] = await listUnfinishedUploads(service, actor);
    const part = { id: upload?.id ?? '', offset: 0, sizeBytes: FILE.length };
    const attempt = appendPart({ ...service, blobs: full }, actor, part, inPieces(FILE));
    assert.equal(await refusal(attempt), 'maintenance');
  });

  it('an upload expires a day after its last byte, and its file is removed', async () => {
    const upload = await begin();
    await append(upload, 0, 10_000);
    world.clock.advanceS(23 * HOUR_S);
    await append(upload, 10_000, 20_000);
    world.clock.advanceS(23 * HOUR_S);
    await runDue();
    assert.equal(await receivedBytes(upload), 20_000);
    world.clock.advanceS(HOUR_S);
    assert.equal(await refusal(append(upload, 20_000)), 'not_found');
    await runDue();
    assert.ok(!(await files()).includes(storedId(upload)));
    assert.equal(
      await world.db.row('select from image_uploads where id = $1', [storedId(upload)]),
      undefined,
    );
  });

  it('a restart keeps the upload, and ends the lease of the killed request', async () => {
    const upload = await begin();
    await append(upload, 0, 10_000);
    await world.db.run(
      `update image_uploads set writer = id, alive_until = now() + interval '1 hour' where id = $1`,
      [storedId(upload)],
    );
    assert.equal(await refusal(append(upload, 10_000)), 'conflict_state');
    await abandonUploads(service);
    await runDue();
    await append(upload, 10_000);
    await complete(upload);
  });

  it('an upload whose bytes are missing is discarded, and begins again', async () => {
    const upload = await begin();
    await append(upload, 0, 10_000);
    await rm(`${folder}/part-${storedId(upload)}`);
    assert.equal(await refusal(append(upload, 10_000)), 'not_found');
    await runDue();
    const again = await begin();
    assert.notEqual(again.id, upload.id);
    assert.equal(again.receivedBytes, 0);
  });

  it('a refused name keeps the upload, and a file that is no ISO image ends it', async () => {
    const upload = await begin();
    await append(upload, 0);
    assert.equal(await refusal(complete(upload, [{ name: 'name', value: ' ' }])), 'invalid_request');
    assert.equal((await complete(upload, [{ name: 'name', value: 'x' }])).name, 'x');

    const plain = await begin(5, 'plain');
    await appendPart(
      service,
      actor,
      { id: plain.id, offset: 0, sizeBytes: 5 },
      inPieces(Buffer.from('plain')),
    );
    assert.equal(await refusal(complete(plain)), 'invalid_value');
    await runDue();
    assert.deepEqual(await listUnfinishedUploads(service, actor), []);
    assert.ok(!(await files()).includes(storedId(plain)));
  });

  it('an upload that is discarded while a part arrives leaves no file', async () => {
    const upload = await begin();
    async function* discardedMeanwhile() {
      yield FILE.subarray(0, 10_000);
      await discardPartUpload(service, actor, upload.id);
      await runDue();
      yield FILE.subarray(10_000, 20_000);
    }
    const part = { id: upload.id, offset: 0, sizeBytes: 20_000 };
    await appendPart(service, actor, part, discardedMeanwhile());
    assert.equal(await refusal(getUnfinishedUpload(service, actor, upload.id)), 'not_found');
    world.clock.advanceS(HOUR_S);
    await runDue();
    assert.ok(!(await files()).includes(storedId(upload)));
  });
});
