/** Uploads in parts whose files are in a store: a part is written when its request ends. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CustomerActor, Service } from '../../../src/domain/context.ts';
import {
  appendPart,
  beginPartUpload,
  completePartUpload,
  getUnfinishedUpload,
} from '../../../src/domain/images/parts.ts';
import { S3Blobs } from '../../../src/drivers/blobs/s3.ts';
import { Failure } from '../../../src/kernel/fail.ts';
import { isoFile } from '../../support/iso.ts';
import { NO_RADOSGW, Radosgw } from '../../support/radosgw.ts';
import { startTestService, type TestService } from '../../support/test-service.ts';

const FILE = Buffer.from(isoFile(100_000));

describe('uploads in parts to a store', { skip: NO_RADOSGW }, () => {
  let store: Radosgw;
  let world: TestService;
  let service: Service;
  let actor: CustomerActor;
  before(async () => {
    store = await Radosgw.start();
    world = await startTestService();
    const { url, bucket, accessKey, secretKey } = store;
    const account = { url, bucket, accessKey, secretKey, region: 'us-east-1' };
    const blobs = new S3Blobs({ ...account, hostStyle: false, prefix: 'skerry-test' });
    service = { ...world.service, blobs };
    actor = await world.fixtures.addCustomer();
  });
  after(async () => {
    await world?.close();
    await store?.close();
  });

  async function* only(bytes: Uint8Array): AsyncIterable<Uint8Array> {
    yield bytes;
  }

  it('a writer whose lease was taken over leaves the confirmed part as it is', async () => {
    const upload = await beginPartUpload(service, actor, { fileKey: 'a', sizeBytes: FILE.length });
    const append = (offset: number, end: number) =>
      appendPart(
        service,
        actor,
        { id: upload.id, offset, sizeBytes: end - offset },
        only(FILE.subarray(offset, end)),
      );
    async function* slow() {
      yield FILE.subarray(0, 20_000);
      // As if this process had stopped for longer than its lease.
      await world.db.run(`update image_uploads set alive_until = now() - interval '1 second'`);
      await append(0, 50_000);
      yield FILE.subarray(20_000, 30_000);
    }
    await assert.rejects(
      appendPart(service, actor, { id: upload.id, offset: 0, sizeBytes: 30_000 }, slow()),
      (error: unknown) => error instanceof Failure && error.code === 'maintenance',
    );
    assert.equal((await getUnfinishedUpload(service, actor, upload.id)).receivedBytes, 50_000);
    await append(50_000, FILE.length);
    const complete = await completePartUpload(service, actor, upload.id);
    assert.equal(complete?.file.sizeBytes, FILE.length);
    await complete?.release();
  });
});
