import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import { createImage } from '../../../src/domain/images/create.ts';
import { findUsableImage, isoForImage } from '../../../src/domain/images/installable.ts';
import { deleteImage, releaseImage } from '../../../src/domain/images/remove.ts';
import { beginUpload, type ReceivedUpload, type Upload } from '../../../src/domain/images/upload.ts';
import { DiskBlobs } from '../../../src/drivers/blobs/disk.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { newId, newPublicNumber, parseId } from '../../../src/kernel/ids.ts';
import type { BlobStore } from '../../../src/ports/blobs.ts';
import { LIMITS, QUOTAS } from '../../../src/spec/limits.ts';
import { S1 } from '../../support/fixtures.ts';
import { isoFile } from '../../support/iso.ts';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const GIB = 1024 ** 3;
const FRESH = { atLeastBytes: 0, key: undefined };

let world: TestService;
let service: Service;
let actor: CustomerActor;
let folder: string;
before(async () => {
  world = await startTestService();
  service = world.service;
  await world.fixtures.addPlans(['par'], [S1]);
  folder = dirname(service.blobs.path(newId(new Date())) ?? '');
  await mkdir(folder, { recursive: true });
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer();
});

async function* inPieces(...pieces: Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* pieces;
}

function receivedOf(upload: Upload, file: ReceivedUpload['file']): ReceivedUpload {
  return { id: upload.id, discard: upload.discard, fields: [], files: 1, file };
}

/** Uploads an image; returns its public id. */
async function uploaded(by = actor): Promise<string> {
  const upload = await beginUpload(service, by, FRESH);
  try {
    const file = await upload.receive(inPieces(isoFile()));
    return (await createImage(service, by, receivedOf(upload, file))).id;
  } finally {
    await upload.discard();
  }
}

async function refusal(attempt: Promise<unknown>): Promise<string> {
  const error: unknown = await attempt.then(
    () => assert.fail('the attempt succeeded'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Failure, String(error));
  return error.code;
}

const storedId = (shownId: string) => parseId('customImage', shownId) ?? assert.fail('not an id');

/** Adds a server with this image. */
async function installed(imageId: string): Promise<string> {
  const id = newId(new Date());
  await world.db.run(
    `insert into servers (id, public_no, customer_id, name, status, plan_id, region_id, image_id, ram_mb,
                          disk_gb, billing_months, price_cents_month, price_cents_cycle, anchor_day,
                          paid_until, created_at, updated_at)
     values ($1, $2, $3, 'a', 'running', 's1', 'par', $4, 1, 1, 1, 1, 1, 1, now(), now(), now())`,
    [id, newPublicNumber(), actor.customerId, imageId],
  );
  return id;
}

describe('an upload', () => {
  it('an upload of more than 4 GiB is refused as early as possible, and one of 4 GiB is not', async () => {
    let written = 0;
    const discardingStore: BlobStore = {
      path: () => '',
      openAppender: () => assert.fail('not in parts'),
      publish: () => assert.fail('not in parts'),
      remove: async () => undefined,
      read: () => assert.fail('not read'),
      check: async () => undefined,
      createWriter: async () => ({
        write: async (chunk) => {
          written += chunk.length;
        },
        finish: async () => ({ sha256: 'x', sizeBytes: written }),
        abort: async () => undefined,
      }),
    };
    const piece = Buffer.alloc(64 * 1024 ** 2);
    const whole = LIMITS.imageUploadMaxBytes / piece.length;
    let requested = 0;
    async function* pieces(count: number) {
      for (requested = 0; requested < count; requested++) yield piece;
    }
    const generous = { ...service, blobs: discardingStore };
    const exact = await beginUpload(generous, actor, FRESH);
    assert.equal((await exact.receive(pieces(whole))).sizeBytes, LIMITS.imageUploadMaxBytes);
    await exact.discard();
    written = 0;
    const over = await beginUpload(generous, actor, FRESH);
    assert.equal(await refusal(over.receive(pieces(whole * 2))), 'invalid_request');
    assert.deepEqual([requested, written], [whole, LIMITS.imageUploadMaxBytes]);
    await over.discard();
    const oneMore = await beginUpload(generous, actor, FRESH);
    async function* piecesAndByte() {
      yield* pieces(whole);
      yield Buffer.alloc(1);
    }
    assert.equal(await refusal(oneMore.receive(piecesAndByte())), 'invalid_request');
    await oneMore.discard();
    const tooMuch = { ...FRESH, atLeastBytes: LIMITS.imageUploadMaxBytes + 1 };
    assert.equal(await refusal(beginUpload(generous, actor, tooMuch)), 'invalid_request');
  });

  it('an upload to a full disk is refused with maintenance and leaves nothing behind', async () => {
    const full = new DiskBlobs({ folder: scratchFolder(), reserveBytes: Number.MAX_SAFE_INTEGER });
    const upload = await beginUpload({ ...service, blobs: full }, actor, FRESH);
    assert.equal(await refusal(upload.receive(inPieces(isoFile()))), 'maintenance');
    await upload.discard();
    assert.equal(await world.db.row('select id from image_uploads'), undefined);
  });

  it('an upload of a killed process is removed by its task and can no longer become an image', async () => {
    const upload = await beginUpload(service, actor, FRESH);
    const file = await upload.receive(inPieces(isoFile()));
    await world.runner.runDue(performance.now() + 5_000);
    assert.ok((await readdir(folder)).includes(upload.id), 'a live upload must not be removed');
    await world.db.run(`update image_uploads set alive_until = now() - interval '1 second'`);
    await world.runUntilIdle();
    assert.deepEqual(await readdir(folder), []);
    assert.equal(await refusal(createImage(service, actor, receivedOf(upload, file))), 'maintenance');
    await upload.discard();

    const half = newId(new Date());
    await writeFile(`${folder}/part-${half}`, 'half');
    await world.db.run(
      `with dead as (insert into image_uploads values ($1, $2, now() - interval '1 second'))
       insert into tasks (kind, subject, due_at) values ('image_remove', $1, $3)`,
      [half, actor.customerId, world.clock.now()],
    );
    await world.runUntilIdle();
    assert.deepEqual(await readdir(folder), []);
    assert.equal(await world.db.row('select id from image_uploads'), undefined);
  });

  it('the image quotas hold by number and by size when uploads complete concurrently', async () => {
    const quotas = { ...QUOTAS, customImages: 1 };
    const strict = { ...service, settings: { ...service.settings, quotas } };
    const uploads = await Promise.all([1, 2].map(() => beginUpload(strict, actor, FRESH)));
    const outcomes = await Promise.all(
      uploads.map(async (upload) => {
        const file = await upload.receive(inPieces(isoFile()));
        const creation = createImage(strict, actor, receivedOf(upload, file));
        return await creation.then(() => 'created', refusalCode).finally(() => upload.discard());
      }),
    );
    assert.deepEqual(outcomes.sort(), ['created', 'limit_reached']);
    assert.equal(await refusal(beginUpload(strict, actor, FRESH)), 'limit_reached');

    const other = await world.fixtures.addCustomer();
    const small = { ...service, settings: { ...service.settings, quotas: { ...QUOTAS, customImagesGb: 1 } } };
    assert.equal(
      await refusal(beginUpload(small, other, { ...FRESH, atLeastBytes: GIB + 1 })),
      'limit_reached',
    );
    const fits = await beginUpload(small, other, { ...FRESH, atLeastBytes: GIB });
    const file = { sha256: 'x', sizeBytes: GIB + 1, isIso: true };
    assert.equal(await refusal(createImage(small, other, receivedOf(fits, file))), 'limit_reached');
    await fits.discard();
  });
});

function refusalCode(error: unknown): string {
  return error instanceof Failure ? error.code : String(error);
}

describe('a deleted image', () => {
  it('a deleted image keeps its file until the last server that uses it is removed', async () => {
    const shownId = await uploaded();
    const id = storedId(shownId);
    const server = await installed(id);
    await deleteImage(service, actor, shownId);
    await world.runUntilIdle();
    assert.ok((await readdir(folder)).includes(id));
    const { customerId } = actor;
    await world.db.transaction(async (tx) => {
      assert.equal(await findUsableImage(tx, customerId, shownId), undefined, 'not for a new server');
      const again = await findUsableImage(tx, customerId, shownId, { installed: id });
      assert.equal(
        again && isoForImage(service, again)?.path,
        service.blobs.path(id),
        'still for the server that has it',
      );
    });
    await world.db.transaction(async (tx) => {
      await tx.run('delete from servers where id = $1', [server]);
      await releaseImage(tx, id, world.clock.now());
    });
    await world.runUntilIdle();
    assert.ok(!(await readdir(folder)).includes(id));
    await world.db.transaction(async (tx) => {
      assert.equal(await findUsableImage(tx, customerId, shownId, { installed: id }), undefined);
    });
  });

  it('a deleted image frees its quota at once, before its file is removed', async () => {
    const quotas = { ...QUOTAS, customImages: 1 };
    const strict = { ...service, settings: { ...service.settings, quotas } };
    const shownId = await uploaded();
    assert.equal(await refusal(beginUpload(strict, actor, FRESH)), 'limit_reached');
    await deleteImage(service, actor, shownId);
    await (await beginUpload(strict, actor, FRESH)).discard();
  });

  it('an image of another customer cannot be used or deleted', async () => {
    const shownId = await uploaded();
    const other = await world.fixtures.addCustomer();
    await world.db.transaction(async (tx) => {
      assert.equal(await findUsableImage(tx, other.customerId, shownId), undefined);
    });
    assert.equal(await refusal(deleteImage(service, other, shownId)), 'not_found');
    assert.ok((await readdir(folder)).includes(storedId(shownId)));
  });
});
