/** The limits on responses of nodes. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { after, before, describe, it } from 'node:test';
import {
  NodeError,
  NodeResponseTooLarge,
  NodeUnreachable,
  parseNodeUrl,
  requestNode,
} from '../../../src/drivers/chain/node-http.ts';

describe('responses of nodes', () => {
  let server: Server;
  let answer = '';
  before(async () => {
    server = createServer((_, response) => response.end(answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  const request = async (maxBytes?: number) => {
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    return (await requestNode(parseNodeUrl(url), 'block', maxBytes === undefined ? {} : { maxBytes })).body;
  };

  it('a response may be as large as its limit and no larger', async () => {
    answer = JSON.stringify('x'.repeat(998));
    assert.equal(await request(1_000), 'x'.repeat(998));
    await assert.rejects(
      request(999),
      (error) => error instanceof NodeResponseTooLarge && /too large/.test(error.message),
    );
  });

  it('a response has a small limit by default', async () => {
    answer = JSON.stringify('x'.repeat(2 * 1024 ** 2));
    await assert.rejects(request(), NodeResponseTooLarge);
  });

  it('a response with too many small values is rejected', async () => {
    for (const value of ['1', '{}', '[]', '""']) {
      answer = `[${Array.from({ length: 1_100_000 }, () => value).join(',')}]`;
      await assert.rejects(request(64 * 1024 ** 2), NodeResponseTooLarge);
    }
    answer = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ hash: `${i}`.padStart(64), n: i })));
    assert.equal(((await request()) as unknown[]).length, 1_000);
  });

  it('a response that is not JSON is reported as such', async () => {
    answer = '<html>';
    await assert.rejects(
      request(),
      (error) => error instanceof NodeUnreachable && /not JSON/.test(error.message),
    );
  });
});

describe('error messages of nodes', () => {
  it('an error message is kept without control characters and direction overrides', () => {
    const { message } = new NodeError('call', -1, 'bad\u001b]0;title\u0007\r\nthing\u202e\u0000 é');
    assert.equal(message, 'call: bad ]0;title thing é (-1)');
  });
});
