import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import {
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { S3Blobs } from '../../../src/drivers/blobs/s3.ts';
import { BlobMissingError, BlobStoreError, type BlobWriter } from '../../../src/ports/blobs.ts';
import { NO_RADOSGW, Radosgw } from '../../support/radosgw.ts';

const MIB = 1024 ** 2;
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces);
}

async function writeAll(writer: BlobWriter, content: Uint8Array): Promise<void> {
  for (let at = 0; at < content.length; at += 65_536) await writer.write(content.subarray(at, at + 65_536));
}

describe('blobs in an S3 store', { skip: NO_RADOSGW }, () => {
  let store: Radosgw;
  let client: S3Client;
  let blobs: S3Blobs;
  before(async () => {
    store = await Radosgw.start();
    client = store.client();
    blobs = new S3Blobs(options());
  });
  after(async () => {
    client?.destroy();
    await store?.close();
  });

  const options = () => ({
    url: store.url,
    bucket: store.bucket,
    region: 'us-east-1',
    accessKey: store.accessKey,
    secretKey: store.secretKey,
    hostStyle: false,
    prefix: 'skerry-test',
  });
  const names = async () =>
    ((await client.send(new ListObjectsV2Command({ Bucket: store.bucket }))).Contents ?? []).map(
      ({ Key = '' }) => Key,
    );
  const unfinished = async () =>
    ((await client.send(new ListMultipartUploadsCommand({ Bucket: store.bucket }))).Uploads ?? []).length;
  const file = (key: string) => `skerry-test/files/${key}`;
  async function nothingIsLeft(): Promise<void> {
    assert.deepEqual(await names(), []);
    assert.equal(await unfinished(), 0);
  }

  it('a blob of any size appears whole with the last call, and is deleted by its key', async () => {
    for (const size of [0, 10, 8 * MIB, 17 * MIB + 3]) {
      const key = randomUUID();
      const content = randomBytes(size);
      const writer = await blobs.createWriter(key, 0);
      await writeAll(writer, content);
      assert.deepEqual(await names(), []);
      await assert.rejects(collect(blobs.read(key, 0)), BlobMissingError);
      assert.deepEqual(await writer.finish(), { sha256: digest(content), sizeBytes: size });
      assert.deepEqual(await names(), [file(key)]);
      assert.equal(digest(await collect(blobs.read(key, 0))), digest(content));
      const rest = size > 5 ? content.subarray(5) : content;
      if (size > 5) assert.ok((await collect(blobs.read(key, 5))).equals(rest));
      for (const behind of [size, size + 1]) assert.equal((await collect(blobs.read(key, behind))).length, 0);
      assert.equal(blobs.path(key), null);
      await blobs.remove(key);
      await blobs.remove(key);
      await nothingIsLeft();
    }
  });

  it('an upload that a killed process left is no blob, and goes with its key', async () => {
    const key = randomUUID();
    const writer = await blobs.createWriter(key, 0);
    await writeAll(writer, randomBytes(17 * MIB));
    assert.equal(await unfinished(), 1);
    await assert.rejects(collect(blobs.read(key, 0)), BlobMissingError);
    await new S3Blobs(options()).remove(key);
    await nothingIsLeft();
    const aborted = await blobs.createWriter(key, 0);
    await writeAll(aborted, randomBytes(9 * MIB));
    await aborted.abort();
    await aborted.abort();
    await nothingIsLeft();
  });

  it('an interrupted upload goes on with the parts that the store lacks', async () => {
    const key = randomUUID();
    const content = randomBytes(33 * MIB);
    const killed = new S3Blobs(options()).createResumingWriter(key, content.length);
    await writeAll(killed, content.subarray(0, 25 * MIB));
    const writer = blobs.createResumingWriter(key, content.length);
    await writeAll(writer, content);
    assert.deepEqual(await writer.finish(), { sha256: digest(content), sizeBytes: content.length });
    assert.ok(writer.sentBytes <= 17 * MIB, `${writer.sentBytes}`);
    assert.equal(digest(await collect(blobs.read(key, 0))), digest(content));
    await blobs.remove(key);
    await nothingIsLeft();
  });

  it('a resumed upload of other bytes sends them', async () => {
    const key = randomUUID();
    const other = blobs.createResumingWriter(key, 0);
    await writeAll(other, randomBytes(17 * MIB));
    const content = randomBytes(17 * MIB);
    const writer = blobs.createResumingWriter(key, 0);
    await writeAll(writer, content);
    assert.equal((await writer.finish()).sha256, digest(content));
    assert.equal(digest(await collect(blobs.read(key, 0))), digest(content));
    await blobs.remove(key);
  });

  it('parts of several requests become one blob, without what a killed request wrote', async () => {
    const key = randomUUID();
    const content = randomBytes(20 * MIB);
    const append = async (from: number, to: number) => {
      const appender = await new S3Blobs(options()).openAppender(key, from);
      await appender.write(content.subarray(from, from + 10));
      await appender.write(content.subarray(from + 10, to));
      await appender.finish();
    };
    await append(0, 8 * MIB);
    // Never confirmed: the next request begins before its end.
    await append(8 * MIB, 16 * MIB);
    await append(8 * MIB, 8 * MIB + 100);
    await append(8 * MIB + 100, 12 * MIB);
    await append(12 * MIB, 20 * MIB);
    await assert.rejects(
      blobs.publish(key, 21 * MIB, () => undefined),
      BlobMissingError,
    );
    const seen = createHash('sha256');
    const expected = { sha256: digest(content), sizeBytes: content.length };
    // A call that was killed in between is repeated, before and after the blob is there.
    let chunks = 0;
    await assert.rejects(
      blobs.publish(key, content.length, () => {
        chunks += 1;
        if (chunks > 250) throw new Error('killed');
      }),
      /killed/,
    );
    assert.deepEqual(await blobs.publish(key, content.length, (chunk) => seen.update(chunk)), expected);
    assert.equal(seen.digest('hex'), expected.sha256);
    assert.deepEqual(await names(), [file(key)]);
    assert.deepEqual(await blobs.publish(key, content.length, () => undefined), expected);
    await blobs.remove(key);
    await nothingIsLeft();
  });

  it('a publication that another call overtakes asks to be repeated, and loses nothing', async () => {
    const key = randomUUID();
    const content = randomBytes(18 * MIB);
    for (const from of [0, 9 * MIB]) {
      const appender = await blobs.openAppender(key, from);
      await appender.write(content.subarray(from, from + 9 * MIB));
      await appender.finish();
    }
    const other = new S3Blobs(options());
    let overtaking: Promise<PromiseSettledResult<unknown>[]> | undefined;
    const slow = blobs.publish(key, content.length, () => {
      overtaking ??= Promise.allSettled([other.publish(key, content.length, () => undefined)]);
    });
    for (const outcome of [...(await Promise.allSettled([slow])), ...((await overtaking) ?? [])])
      if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof BlobStoreError);
    const expected = { sha256: digest(content), sizeBytes: content.length };
    assert.deepEqual(await blobs.publish(key, content.length, () => undefined), expected);
    await blobs.remove(key);
  });

  it('everything that is stored is listed, unfinished uploads and parts included', async () => {
    const [whole, begun, parts] = [randomUUID(), randomUUID(), randomUUID()];
    await (await blobs.createWriter(whole, 0)).finish();
    await writeAll(await blobs.createWriter(begun, 0), randomBytes(9 * MIB));
    const appender = await blobs.openAppender(parts, 0);
    await appender.write(Buffer.from('x'));
    await appender.finish();
    await client.send(new PutObjectCommand({ Bucket: store.bucket, Key: 'skerry-other/files/x', Body: 'x' }));
    const listed = new Set<string>();
    for await (const { key, changedAt } of blobs.list()) {
      assert.ok(Math.abs(changedAt.getTime() - Date.now()) < 60_000);
      listed.add(key);
    }
    assert.deepEqual(listed, new Set([whole, begun, parts]));
    for (const key of listed) await blobs.remove(key);
    assert.deepEqual(await names(), ['skerry-other/files/x']);
  });

  it('an error names the setting, and neither the key nor an address', async () => {
    await blobs.check();
    const fault = async (changed: object) => {
      const error = await new S3Blobs({ ...options(), ...changed }).check().then(
        () => assert.fail(),
        (caught: unknown) => caught,
      );
      assert.ok(error instanceof BlobStoreError);
      assert.equal(error.cause, undefined);
      assert.doesNotMatch(error.message, /127\.0\.0\.1|secret-of-tests|KEY-OF-TESTS/);
      return error.message;
    };
    assert.match(await fault({ bucket: 'another' }), /^SKERRY_S3_BUCKET: .* no such bucket/);
    assert.match(
      await fault({ secretKey: 'wrong' }),
      /^SKERRY_S3_ACCESS_KEY, SKERRY_S3_SECRET_KEY: .*rejects/,
    );
    assert.match(await fault({ accessKey: 'WRONG' }), /rejects the key \(InvalidAccessKeyId\)/);
    assert.match(await fault({ url: 'http://127.0.0.1:1' }), /unavailable: ECONNREFUSED/);
  });

  it('a store that is away fails in time, and works again when it is back', async () => {
    const key = randomUUID();
    await store.stop();
    await assert.rejects(blobs.remove(key), BlobStoreError);
    const writer = await blobs.createWriter(key, 0);
    await writer.write(Buffer.from('x'));
    await assert.rejects(writer.finish(), BlobStoreError);
    await assert.rejects(collect(blobs.read(key, 0)), BlobStoreError);
    await store.resume();
    await blobs.check();
  });
});
