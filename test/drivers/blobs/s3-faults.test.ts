import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { S3Blobs } from '../../../src/drivers/blobs/s3.ts';
import { BlobStoreError } from '../../../src/ports/blobs.ts';

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces);
}

describe('a store that misbehaves', () => {
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(listener: RequestListener): Promise<S3Blobs> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    return new S3Blobs({
      url: `http://127.0.0.1:${port}`,
      bucket: 'files',
      region: 'us-east-1',
      accessKey: 'KEY',
      secretKey: 'secret',
      hostStyle: false,
      prefix: 'p',
      timeoutMs: 300,
    });
  }

  it('a slow store ends a call at its limit', async () => {
    const slow = await serve(() => undefined);
    await assert.rejects(slow.remove(randomUUID()), { message: /does not answer in time/ });
    const stalled = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
    });
    await assert.rejects(collect(stalled.read(randomUUID(), 0)), BlobStoreError);
  });

  it('a read that breaks off goes on where it ended', async () => {
    const content = randomBytes(1_000);
    const ranges: (string | undefined)[] = [];
    const flaky = await serve((request, response) => {
      const { range } = request.headers;
      ranges.push(range);
      const from = Number(/^bytes=(\d+)-$/.exec(range ?? 'bytes=0-')?.[1]);
      const part = { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` };
      const length = { 'content-length': content.length - from };
      response.writeHead(
        range === undefined ? 200 : 206,
        range === undefined ? length : { ...length, ...part },
      );
      response.write(content.subarray(from, from + 400), () => {
        if (from + 400 >= content.length) response.end();
        else setImmediate(() => response.destroy());
      });
    });
    assert.ok((await collect(flaky.read(randomUUID(), 0))).equals(content));
    assert.deepEqual(ranges, [undefined, 'bytes=400-', 'bytes=800-']);
  });

  it('a slow download that goes on is not cut off', async () => {
    let calls = 0;
    const slow = await serve(async (_, response) => {
      calls += 1;
      response.writeHead(200, { 'content-length': 6 });
      for (let piece = 0; piece < 6; piece += 1) {
        response.write('x');
        await pause(100);
      }
      response.end();
    });
    assert.equal(String(await collect(slow.read(randomUUID(), 0))), 'xxxxxx');
    assert.equal(calls, 1);
  });

  it('an answer about the region or the clock names them', async () => {
    for (const [status, code, pattern] of [
      [400, 'AuthorizationHeaderMalformed', /^SKERRY_S3_REGION: /],
      [301, 'PermanentRedirect', /^SKERRY_S3_REGION: /],
      [403, 'RequestTimeTooSkewed', /^the clock of this machine /],
    ] as const) {
      const refusing = await serve((_, response) => {
        response.writeHead(status, { 'content-type': 'application/xml' });
        response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>m</Message></Error>`);
      });
      await assert.rejects(refusing.check(), { name: 'BlobStoreError', message: pattern });
    }
  });

  it('a failure of the store is tried again a few times', async () => {
    let calls = 0;
    const failing = await serve((_, response) => {
      calls += 1;
      response.writeHead(503).end();
    });
    await assert.rejects(failing.remove(randomUUID()), BlobStoreError);
    assert.ok(calls >= 2 && calls <= 4, `${calls}`);
  });
});
