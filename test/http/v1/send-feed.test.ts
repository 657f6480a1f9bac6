import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { it } from 'node:test';
import fastify from 'fastify';
import { sendFeed } from '../../../src/http/v1/send-feed.ts';

const STALL_MAX_MS = 300;
const TEXT = `: ${'x'.repeat(64 * 1024)}\n\n`;

it('a client that reads nothing is disconnected, and little data is buffered for it', {
  timeout: 20_000,
}, async () => {
  const app = fastify();
  let given = 0;
  let over = () => {};
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  async function* texts() {
    for (;;) {
      given += 1;
      yield TEXT;
    }
  }
  app.get('/feed', async (request, reply) => {
    sendFeed({ chunks: texts(), end: over }, request, reply, STALL_MAX_MS);
    return reply;
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const closed = once(app.server, 'connection').then(([socket]) => once(socket, 'close'));
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).write('GET /feed HTTP/1.1\r\nHost: x\r\n\r\n');
  try {
    await ended;
    await closed;
    // The kernel buffers some megabytes. Our share is a few texts.
    assert.ok(given < 300, `${given} texts were generated`);
    const resting = given;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(given, resting);
  } finally {
    socket.destroy();
    await app.close();
  }
});
