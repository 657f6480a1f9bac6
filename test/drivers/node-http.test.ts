/** What a node may answer, and what it may not. */
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
} from '../../src/drivers/chain/node-http.ts';

describe('an answer of a node', () => {
  let server: Server;
  let answer = '';
  before(async () => {
    server = createServer((_, response) => response.end(answer)).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  const asked = async (maxBytes?: number) => {
    const address = server.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    return (await requestNode(parseNodeUrl(url), 'block', maxBytes === undefined ? {} : { maxBytes })).body;
  };

  it('may be as large as was asked for, and no larger', async () => {
    answer = JSON.stringify('x'.repeat(998));
    assert.equal(await asked(1_000), 'x'.repeat(998));
    await assert.rejects(
      asked(999),
      (error) => error instanceof NodeResponseTooLarge && /too long/.test(error.message),
    );
  });

  it('is small where nobody said how large it may be', async () => {
    answer = JSON.stringify('x'.repeat(2 * 1024 ** 2));
    await assert.rejects(asked(), NodeResponseTooLarge);
  });

  it('that is made of very many small values is not read', async () => {
    for (const value of ['1', '{}', '[]', '""']) {
      answer = `[${Array.from({ length: 1_100_000 }, () => value).join(',')}]`;
      await assert.rejects(asked(64 * 1024 ** 2), NodeResponseTooLarge);
    }
    answer = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => ({ hash: `${i}`.padStart(64), n: i })));
    assert.equal(((await asked()) as unknown[]).length, 1_000);
  });

  it('that is no JSON is said to be none', async () => {
    answer = '<html>';
    await assert.rejects(
      asked(),
      (error) => error instanceof NodeUnreachable && /no JSON/.test(error.message),
    );
  });
});

describe('what a node says of its trouble', () => {
  it('is kept without what moves a terminal’s cursor or turns text around', () => {
    const { message } = new NodeError('call', -1, 'bad\u001b]0;title\u0007\r\nthing\u202e\u0000 é');
    assert.equal(message, 'call: bad ]0;title thing é (-1)');
  });
});
