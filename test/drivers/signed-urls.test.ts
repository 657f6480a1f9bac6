/** Parts that a store takes badly, and ranges that it answers badly. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { after, afterEach, describe, it } from 'node:test';
import { CopyTransfers } from '../../src/drivers/copy-transfers.ts';
import { digestParts, partBytesFor, putPart, readSigned } from '../../src/drivers/signed-urls.ts';
import { ComputeError } from '../../src/ports/compute.ts';
import type { ComputeFault } from '../../src/ports/compute-fault.ts';

const MIB = 1024 ** 2;
const CONTENT = Buffer.from('the bytes of a part');
const md5 = createHash('md5').update(CONTENT).digest('hex');
const signal = new AbortController().signal;

describe('signed URLs', () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function serve(listener: RequestListener): Promise<string> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((resolve) => server.once('listening', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/b/k?X-Amz-Signature=secret`;
  }
  const put = (url: string, content = CONTENT) =>
    putPart({ url, sizeBytes: content.length, md5 }, Readable.from([content]), signal);
  const read = async (url: string, offset: number) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of readSigned(url, offset, signal)) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  };
  /** Its message has neither address nor signature. */
  const fails = async (call: Promise<unknown>, message: RegExp, fault: ComputeFault = 'transient') =>
    await assert.rejects(call, (error: unknown) => {
      assert.ok(error instanceof ComputeError && error.fault === fault, String(error));
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /127\.0\.0\.1|secret|http:/);
      return true;
    });

  it('a part is sent with its length and MD5', async () => {
    let got: unknown;
    const url = await serve(async (request, response) => {
      const chunks = (await request.toArray()) as Buffer[];
      const { 'content-length': length, 'content-md5': sum } = request.headers;
      got = [request.method, length, sum, Buffer.concat(chunks).toString()];
      response.setHeader('etag', `"${md5}"`).end();
    });
    await put(url);
    const base64 = Buffer.from(md5, 'hex').toString('base64');
    assert.deepEqual(got, ['PUT', String(CONTENT.length), base64, CONTENT.toString()]);
  });

  it('a store that refuses, breaks off, or has other bytes fails the part', async () => {
    await fails(put(await serve((_, response) => response.writeHead(403).end('denied'))), /HTTP 403/);
    await fails(put(await serve((request) => request.socket.destroy())), /does not answer/);
    const other = await serve((request, response) => {
      request.resume().on('end', () => response.setHeader('etag', '"0"').end());
    });
    await fails(put(other), /another MD5/);
    // Without reading what is sent.
    const early = await serve((_, response) => response.writeHead(503, { connection: 'close' }).end());
    await fails(put(early, Buffer.alloc(8 * MIB)), /HTTP 503|does not answer/);
    await fails(put('http://127.0.0.1:9/nothing'), /does not answer/);
  });

  it('a range begins where it was asked for, or fails', async () => {
    const ranged = await serve((request, response) => {
      const from = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const range = { 'content-range': `bytes ${from}-18/19` };
      response.writeHead(from === 0 ? 200 : 206, from === 0 ? {} : range).end(CONTENT.subarray(from));
    });
    assert.equal(await read(ranged, 0), CONTENT.toString());
    assert.equal(await read(ranged, 4), CONTENT.subarray(4).toString());
    const whole = await serve((_, response) => response.end(CONTENT));
    await fails(read(whole, 4), /HTTP 200/);
    const shifted = await serve((_, response) =>
      response.writeHead(206, { 'content-range': 'bytes 5-18/19' }).end(),
    );
    await fails(read(shifted, 4), /HTTP 206/);
    await fails(read(await serve((_, response) => response.writeHead(404).end()), 0), /HTTP 404/, 'host');
    const broken = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('begins', () => response.destroy());
    });
    await fails(read(broken, 0), /broke off/);
  });

  it('digests are those of each part, and parts are as many as a store takes', async () => {
    const digests = await digestParts(Readable.from([Buffer.from('one'), Buffer.from('twos')]), 3);
    const sums = ['one', 'two', 's'].map((text) => createHash('md5').update(text).digest('hex'));
    assert.deepEqual([digests.sizeBytes, digests.partMd5s], [7, sums]);
    assert.equal(digests.sha256, createHash('sha256').update(`one${'twos'}`).digest('hex'));
    assert.equal(partBytesFor(1, 16), 16 * MIB);
    const terabyte = 1024 ** 4;
    assert.ok(terabyte / partBytesFor(terabyte, 16) <= 10_000);
  });
});

describe('transfers of copies', () => {
  const transfers = new CopyTransfers(null);
  after(() => transfers.end('held'));

  it('a transfer is started once, is reported once, and can be ended', async () => {
    let starts = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const work = async (_: AbortSignal, onBytes: (bytes: number) => void) => {
      starts += 1;
      onBytes(5);
      await promise;
    };
    const running = transfers.run('one', work);
    resolve();
    assert.deepEqual(await running, { state: 'done', bytes: 5, message: null, fault: null });
    const failing = async () => {
      throw new ComputeError('transient', 'no luck');
    };
    assert.deepEqual(await transfers.run('one', failing), {
      ...{ state: 'failed', bytes: 0, message: 'no luck' },
      fault: 'transient',
    });
    assert.equal(starts, 1);
    const untilAborted = (abort: AbortSignal) =>
      new Promise<void>((_, reject) => abort.addEventListener('abort', () => reject(new Error('aborted'))));
    assert.equal((await transfers.run('held', untilAborted)).state, 'working');
    await transfers.end('held');
  });

  it('no more than four run, and those that no one asks about make room', async () => {
    const gates = Promise.withResolvers<void>();
    const wait = async () => await gates.promise;
    const started = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => transfers.run(id, wait)));
    assert.ok(started.every(({ state }) => state === 'working'));
    let ran = false;
    const late = async () => {
      ran = true;
    };
    assert.equal((await transfers.run('f', late)).state, 'working');
    assert.equal(ran, false);
    gates.resolve();
    await transfers.run('a', wait);
    assert.equal((await transfers.run('f', late)).state, 'done');
  });
});
