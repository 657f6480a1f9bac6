import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { parseNodeUrl, requestNode } from '../../../src/drivers/chain/node-http.ts';

const SECRETS = /hunter2|127\.0\.0\.1|node-key/;

describe('node URLs', () => {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`);
    response.end(request.url?.startsWith('/broken') ? `no JSON for ${request.url}` : '{}');
  });
  let host = '';
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('a key in the query of a node URL is appended to every path', async () => {
    const login = `Basic ${Buffer.from('user:hunter2').toString('base64')}`;
    await requestNode(parseNodeUrl(`http://${host}/?api-key=node-key&x=%20`), 'a', {});
    await requestNode(parseNodeUrl(`http://user:hunter2@${host}/v2/?api-key=node-key`), 'b', {
      path: '/wallet',
    });
    await requestNode(parseNodeUrl(`http://${host}/wallet/w/`), 'c', { path: '/json_rpc' });
    assert.deepEqual(requests, [
      'POST /?api-key=node-key&x=%20 -',
      `POST /v2/wallet?api-key=node-key ${login}`,
      'POST /wallet/w/json_rpc -',
    ]);
  });

  it('an error never contains the address, password, or key of a node', async () => {
    const offline = 'http://user:hunter2@127.0.0.1:1/node-key/?api-key=node-key';
    const broken = `http://user:hunter2@${host}/broken/node-key?api-key=node-key`;
    for (const url of [offline, broken]) {
      await assert.rejects(requestNode(parseNodeUrl(url), 'getblock', {}), (error: Error) => {
        assert.match(error.message, /^getblock: the node/);
        assert.doesNotMatch(`${error.message} ${error.stack} ${JSON.stringify(error)}`, SECRETS);
        assert.equal(error.cause, undefined);
        return true;
      });
    }
  });
});
