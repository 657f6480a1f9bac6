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
} from '../../src/http/console/pipe.ts';

/** A machine's screen whose other end the test holds. */
class Screen extends Duplex {
  receivedBytes = 0;
  producedBytes = 0;
  /** While false, nothing that was written is taken. */
  acceptsWrites = true;
  /** What it has to say; it says it as fast as it is read. */
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
  /** Has this much to say. */
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

  it('carries bytes both ways and ends with the screen, which the viewer is told', async () => {
    const { screen, viewer, closed, carried } = await open();
    viewer.send(Buffer.from('up'));
    await until(() => screen.receivedBytes === 2, 'nothing came up');
    screen.push('down');
    screen.push(null);
    const [data] = (await once(viewer, 'message')) as [Buffer];
    assert.equal(data.toString(), 'down');
    assert.deepEqual(await closed, [1000, 'the screen ended']);
    assert.equal(await carried.ended, 'screen');
    assert.ok(screen.destroyed);
  });

  it('ends when the viewer leaves, politely or not, and when the screen breaks', async () => {
    for (const leave of ['close', 'terminate'] as const) {
      const { screen, viewer, carried } = await open();
      viewer[leave]();
      assert.equal(await carried.ended, 'viewer');
      assert.ok(screen.destroyed);
    }
    const { screen, closed } = await open();
    screen.destroy(new Error('broken'));
    assert.deepEqual(await closed, [1000, 'the screen ended']);
  });

  it('does not read ahead of a slow viewer, nor listen ahead of a slow screen', async () => {
    const { screen, viewer, carried } = await open();
    viewer.pause();
    const all = 64 * 1024 * 1024;
    screen.produce(all);
    let before = -1;
    await until(() => {
      const still = before === screen.producedBytes && screen.isPaused();
      before = screen.producedBytes;
      return still;
    }, 'the screen is never paused');
    assert.ok(screen.producedBytes < all / 2, `${screen.producedBytes} bytes wait in between`);
    let heard = 0;
    viewer.on('message', (data: Buffer) => {
      heard += data.length;
    });
    viewer.resume();
    await until(() => heard === all, 'not all came down');

    screen.acceptsWrites = false;
    for (let i = 0; i < 400; i += 1) viewer.send(Buffer.alloc(60_000));
    await until(() => screen.receivedBytes > 0 && screen.writableNeedDrain, 'nothing came up');
    assert.ok(screen.writableLength < 1024 * 1024, `${screen.writableLength} bytes wait in between`);
    screen.acceptAll();
    await until(() => screen.receivedBytes === 400 * 60_000, 'not all came up');
    viewer.close();
    await carried.ended;
  });

  it('ends when it is open for long, and when its viewer is silent', async () => {
    const checkEveryMs = 10;
    for (const readOnly of [false, true]) {
      const time = await open({ checkEveryMs, totalMs: 30 }, { readOnly });
      assert.deepEqual(await time.closed, [4001, 'open for too long']);
    }
    const silent = await open({ checkEveryMs, silentMs: 60 });
    silent.viewer.pause();
    assert.equal(await silent.carried.ended, 'viewer');
    silent.viewer.terminate();
    // One that answers pings lives on, though it says nothing else.
    const alive = await open({ checkEveryMs: 50, silentMs: 500 });
    for (let pings = 0; pings < 12; pings += 1) await once(alive.viewer, 'ping');
    assert.equal(alive.viewer.readyState, WebSocket.OPEN);
    alive.carried.end('stopping');
    assert.deepEqual(await alive.closed, [1001, 'the service restarts']);
  });

  it('ends without input, whatever its screen shows and its viewer asks to see; input keeps it open', async () => {
    const bounds = { checkEveryMs: 10, idleMs: 500 };
    const update = Buffer.from([3, 1, 0, 0, 0, 0, 2, 128, 1, 144]);
    const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 65]);
    const idle = await open(bounds);
    const typing = await open(bounds);
    const looking = await open(bounds, { readOnly: true });
    const said = new Map([
      [idle, update],
      [typing, key],
      [looking, update],
    ]);
    for (const [{ viewer, screen }, message] of said) {
      viewer.send(Buffer.from('RFB 003.008\n\x01\x01', 'latin1'));
      viewer.on('ping', () => {
        screen.push('picture');
        if (viewer.readyState === WebSocket.OPEN) viewer.send(message);
      });
    }
    assert.deepEqual(await idle.closed, [4000, 'no input for long']);
    assert.equal(await idle.carried.ended, 'idle');
    assert.ok(idle.screen.receivedBytes > 14, 'it asked for nothing');
    for (const { viewer, carried } of [typing, looking]) {
      assert.equal(viewer.readyState, WebSocket.OPEN);
      carried.end('stopping');
      await carried.ended;
    }
  });

  it('ends for the reason that a review gives, and takes no input from then on', async () => {
    let verdict: PipeEndReason | null = null;
    let reviews = 0;
    const review = async () => {
      reviews += 1;
      return verdict;
    };
    const { viewer, screen, closed, carried } = await open({ checkEveryMs: 5 }, { review });
    await until(() => reviews > 3, 'it is not reviewed again and again');
    assert.equal(viewer.readyState, WebSocket.OPEN);
    verdict = 'revoked';
    await until(() => screen.destroyed, 'it goes on');
    viewer.send(Buffer.from('typed'));
    assert.deepEqual(await closed, [4002, 'its token is gone']);
    assert.equal(await carried.ended, 'revoked');
    assert.equal(screen.receivedBytes, 0);
  });

  it('ends with whoever sends text, too much at once, or, only looking, no RFB', async () => {
    const text = await open();
    text.viewer.send('text');
    assert.deepEqual(await text.closed, [1003, 'binary messages only']);
    const much = await open();
    much.viewer.send(Buffer.alloc(64 * 1024 + 1));
    assert.equal((await much.closed)[0], 1009);
    assert.ok((await much.carried.ended) && much.screen.destroyed);
    const wrong = await open({}, { readOnly: true });
    wrong.viewer.send(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
    assert.deepEqual(await wrong.closed, [1008, 'not RFB']);
    assert.equal(wrong.screen.receivedBytes, 0);
  });
});
