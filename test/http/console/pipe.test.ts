import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { WebSocket, WebSocketServer } from 'ws';
import {
  PIPE_LIMITS,
  type Pipe,
  type PipeEndReason,
  type PipeLimits,
  type PipeOptions,
  pipe,
} from '../../../src/http/console/pipe.ts';

/** A machine’s screen whose other end the test controls. */
class Screen extends Duplex {
  receivedBytes = 0;
  producedBytes = 0;
  /** While false, written data is not consumed. */
  acceptsWrites = true;
  /** The data that it still has to send, as fast as it is read. */
  remainingBytes = 0;
  #taken: () => void = () => undefined;
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.receivedBytes += chunk.length;
    if (this.acceptsWrites) done();
    else this.#taken = done;
  }
  override _read(size: number): void {
    if (this.remainingBytes === 0) return;
    const length = Math.min(size, this.remainingBytes);
    this.remainingBytes -= length;
    this.producedBytes += length;
    setImmediate(() => this.push(Buffer.alloc(length)));
  }
  /** Queues this much data. */
  produce(length: number): void {
    this.remainingBytes = length;
    this._read(this.readableHighWaterMark);
  }
  acceptAll(): void {
    this.acceptsWrites = true;
    this.#taken();
  }
}

describe('an open console', () => {
  let server: WebSocketServer;
  before(async () => {
    server = new WebSocketServer({
      port: 0,
      host: '127.0.0.1',
      perMessageDeflate: false,
      maxPayload: 64 * 1024,
    });
    await once(server, 'listening');
  });
  after(() => server.close());

  async function open(
    bounds: Partial<PipeLimits> = {},
    { readOnly = false, review }: Partial<PipeOptions> = {},
  ) {
    const screen = new Screen();
    const carried = new Promise<Pipe>((resolve) => {
      server.once('connection', (viewer) =>
        resolve(pipe(viewer, screen as Duplex, { readOnly, review, limits: { ...PIPE_LIMITS, ...bounds } })),
      );
    });
    const viewer = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const closed = once(viewer, 'close').then(([code, reason]) => [code, String(reason)]);
    await once(viewer, 'open');
    return { screen, viewer, closed, carried: await carried };
  }

  async function until(isSo: () => boolean, what: string): Promise<void> {
    const deadline = Date.now() + 10_000;
    while (!isSo()) {
      assert.ok(Date.now() < deadline, what);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('a console carries bytes both ways and ends with the screen, with a reason for the viewer', async () => {
    const { screen, viewer, closed, carried } = await open();
    viewer.send(Buffer.from('up'));
    await until(() => screen.receivedBytes === 2, 'no data reached the screen');
    screen.push('down');
    screen.push(null);
    const [data] = (await once(viewer, 'message')) as [Buffer];
    assert.equal(data.toString(), 'down');
    assert.deepEqual(await closed, [1000, 'the screen closed']);
    assert.equal(await carried.ended, 'screen');
    assert.ok(screen.destroyed);
  });

  it('a console ends when the viewer leaves, cleanly or not, and when the screen fails', async () => {
    for (const leave of ['close', 'terminate'] as const) {
      const { screen, viewer, carried } = await open();
      viewer[leave]();
      assert.equal(await carried.ended, 'viewer');
      assert.ok(screen.destroyed);
    }
    const { screen, closed } = await open();
    screen.destroy(new Error('broken'));
    assert.deepEqual(await closed, [1000, 'the screen closed']);
  });

  it('a console reads neither ahead of a slow viewer nor ahead of a slow screen', async () => {
    const { screen, viewer, carried } = await open();
    viewer.pause();
    const all = 64 * 1024 * 1024;
    screen.produce(all);
    let before = -1;
    await until(() => {
      const still = before === screen.producedBytes && screen.isPaused();
      before = screen.producedBytes;
      return still;
    }, 'the screen was never paused');
    assert.ok(screen.producedBytes < all / 2, `${screen.producedBytes} bytes are buffered in between`);
    let received = 0;
    viewer.on('message', (data: Buffer) => {
      received += data.length;
    });
    viewer.resume();
    await until(() => received === all, 'the viewer did not receive everything');

    screen.acceptsWrites = false;
    for (let i = 0; i < 400; i += 1) viewer.send(Buffer.alloc(60_000));
    await until(() => screen.receivedBytes > 0 && screen.writableNeedDrain, 'no data reached the screen');
    assert.ok(screen.writableLength < 1024 * 1024, `${screen.writableLength} bytes are buffered in between`);
    screen.acceptAll();
    await until(() => screen.receivedBytes === 400 * 60_000, 'the screen did not receive everything');
    viewer.close();
    await carried.ended;
  });

  it('a console ends when it has been open too long and when its viewer is silent', async () => {
    const checkEveryMs = 10;
    for (const readOnly of [false, true]) {
      const time = await open({ checkEveryMs, totalMs: 30 }, { readOnly });
      assert.deepEqual(await time.closed, [4001, 'open for too long']);
    }
    const silent = await open({ checkEveryMs, silentMs: 60 });
    silent.viewer.pause();
    assert.equal(await silent.carried.ended, 'viewer');
    silent.viewer.terminate();
    // A viewer that only answers pings stays connected.
    const alive = await open({ checkEveryMs: 50, silentMs: 500 });
    for (let pings = 0; pings < 12; pings += 1) await once(alive.viewer, 'ping');
    assert.equal(alive.viewer.readyState, WebSocket.OPEN);
    alive.carried.end('stopping');
    assert.deepEqual(await alive.closed, [1001, 'the service is restarting']);
  });

  it('a console without input ends despite screen updates, and input keeps it open', async () => {
    const bounds = { checkEveryMs: 10, idleMs: 500 };
    const update = Buffer.from([3, 1, 0, 0, 0, 0, 2, 128, 1, 144]);
    const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 65]);
    const idle = await open(bounds);
    const typing = await open(bounds);
    const looking = await open(bounds, { readOnly: true });
    const messages = new Map([
      [idle, update],
      [typing, key],
      [looking, update],
    ]);
    for (const [{ viewer, screen }, message] of messages) {
      viewer.send(Buffer.from('RFB 003.008\n\x01\x01', 'latin1'));
      viewer.on('ping', () => {
        screen.push('picture');
        if (viewer.readyState === WebSocket.OPEN) viewer.send(message);
      });
    }
    assert.deepEqual(await idle.closed, [4000, 'no input for too long']);
    assert.equal(await idle.carried.ended, 'idle');
    assert.ok(idle.screen.receivedBytes > 14, 'the viewer requested no updates');
    for (const { viewer, carried } of [typing, looking]) {
      assert.equal(viewer.readyState, WebSocket.OPEN);
      carried.end('stopping');
      await carried.ended;
    }
  });

  it('a console ends for the reason that a review returns, and accepts no further input', async () => {
    let verdict: PipeEndReason | null = null;
    let reviews = 0;
    const review = async () => {
      reviews += 1;
      return verdict;
    };
    const { viewer, screen, closed, carried } = await open({ checkEveryMs: 5 }, { review });
    await until(() => reviews > 3, 'the review was not repeated');
    assert.equal(viewer.readyState, WebSocket.OPEN);
    verdict = 'revoked';
    await until(() => screen.destroyed, 'the console stayed open');
    viewer.send(Buffer.from('typed'));
    assert.deepEqual(await closed, [4002, 'the token was revoked or has expired']);
    assert.equal(await carried.ended, 'revoked');
    assert.equal(screen.receivedBytes, 0);
  });

  it('a console ends on text, on oversized messages, and on invalid RFB if read-only', async () => {
    const text = await open();
    text.viewer.send('text');
    assert.deepEqual(await text.closed, [1003, 'binary messages only']);
    const much = await open();
    much.viewer.send(Buffer.alloc(64 * 1024 + 1));
    assert.equal((await much.closed)[0], 1009);
    assert.ok((await much.carried.ended) && much.screen.destroyed);
    const wrong = await open({}, { readOnly: true });
    wrong.viewer.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    assert.deepEqual(await wrong.closed, [1008, 'invalid RFB message']);
    assert.equal(wrong.screen.receivedBytes, 0);
  });
});
