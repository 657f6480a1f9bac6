/** Reads a guest's screen over the console's WebSocket, like a viewer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';

const ANSWER_MAX_MS = 10_000;

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Number of distinct colors. */
  readonly colors: number;
}

export async function readScreen(url: string): Promise<Picture> {
  const socket = new WebSocket(url, ['binary']);
  const reader = new Reader(socket);
  await once(socket, 'open');
  try {
    assert.match((await reader.take(12)).toString(), /^RFB 003\.008\n$/);
    socket.send(Buffer.from('RFB 003.008\n'));
    const [count = 0] = await reader.take(1);
    assert.ok((await reader.take(count)).includes(1), 'security None is offered');
    socket.send(Buffer.from([1]));
    assert.equal((await reader.take(4)).readUInt32BE(), 0);
    socket.send(Buffer.from([1]));
    const init = await reader.take(24);
    await reader.take(init.readUInt32BE(20));
    return await picture(socket, reader, { width: init.readUInt16BE(0), height: init.readUInt16BE(2) });
  } finally {
    socket.terminate();
  }
}

async function picture(
  socket: WebSocket,
  reader: Reader,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<Picture> {
  // Request 32-bit true color, raw rectangles only, and the full screen.
  socket.send(Buffer.from([0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]));
  socket.send(Buffer.from([2, 0, 0, 1, 0, 0, 0, 0]));
  const ask = Buffer.from([3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  ask.writeUInt16BE(width, 6);
  ask.writeUInt16BE(height, 8);
  socket.send(ask);
  const colors = new Set<number>();
  const head = await reader.take(4);
  assert.equal(head[0], 0, 'a framebuffer update');
  for (let left = head.readUInt16BE(2); left > 0; left--) {
    const rectangle = await reader.take(12);
    assert.equal(rectangle.readInt32BE(8), 0, 'raw encoding');
    const pixels = await reader.take(4 * rectangle.readUInt16BE(4) * rectangle.readUInt16BE(6));
    for (let at = 0; at < pixels.length; at += 4) colors.add(pixels.readUInt32LE(at) & 0xffffff);
  }
  return { width, height, colors: colors.size };
}

/** Buffers incoming bytes and returns them in the requested portions. */
class Reader {
  #buffer = Buffer.alloc(0);
  #more: () => void = () => undefined;
  #isOver = false;

  constructor(socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, data]);
      this.#more();
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#isOver = true;
      this.#more();
    });
  }

  async take(count: number): Promise<Buffer> {
    const timer = setTimeout(() => {
      this.#isOver = true;
      this.#more();
    }, ANSWER_MAX_MS);
    while (this.#buffer.length < count) {
      assert.ok(!this.#isOver, `${count} bytes of the screen did not arrive`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#more = resolve;
      await promise;
    }
    clearTimeout(timer);
    const taken = this.#buffer.subarray(0, count);
    this.#buffer = this.#buffer.subarray(count);
    return taken;
  }
}
