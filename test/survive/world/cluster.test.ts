/** The cluster of the tests does not wait for a server without end. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { it } from 'node:test';
import { countStreaming } from '../../support/patroni.ts';

it('a server that accepts connections and never answers counts as no answer', {
  timeout: 20_000,
}, async (t) => {
  const server = createServer((socket) => void socket.on('error', () => undefined).resume());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  assert.equal(await countStreaming(server.address() as AddressInfo), -1);
});
