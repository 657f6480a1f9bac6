import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { JsonRpc } from '../../../src/drivers/chain/json-rpc.ts';
import { NodeError, NodeResponseTooLarge, NodeUnreachable } from '../../../src/drivers/chain/node-http.ts';
import { basicAuth, RpcError, type RpcRequest, RpcServer } from './utxo/rpc-server.ts';

const PASSWORD = 'a-password-of-tests';
const GOOD = { method: 'good', params: [7] };
const BAD = { method: 'bad', params: [] };

describe('JSON-RPC', () => {
  let server: RpcServer;
  let rpc: JsonRpc;
  let shouldCut: (n: number) => boolean;
  const calls = (numbers: readonly number[]) => numbers.map((n) => ({ method: 'good', params: [n] }));
  before(async () => {
    server = await RpcServer.start(PASSWORD, ({ method, params }: RpcRequest) => {
      if (method === 'bad') throw new RpcError(-5, 'not found');
      if (method === 'cut once' && shouldCut(Number(params[0])))
        throw new RpcError(-32_003, 'response too large');
      return method === 'nothing' ? null : params[0];
    });
    rpc = new JsonRpc({ url: server.url, authorization: basicAuth(PASSWORD) });
  });
  after(() => server.close());

  it('a call returns its result, including null, or throws the node’s own error', async () => {
    assert.equal(await rpc.call('good', ['a']), 'a');
    assert.equal(await rpc.call('nothing', []), null);
    await assert.rejects(rpc.call('bad', []), (error) => error instanceof NodeError && error.code === -5);
  });

  it('a batch throws the error of a call, or returns it in place of the result', async () => {
    assert.deepEqual(await rpc.batch([GOOD, GOOD]), [7, 7]);
    await assert.rejects(rpc.batch([GOOD, BAD, GOOD]), NodeError);
    const [first, second, third] = await rpc.batchSettled([GOOD, BAD, GOOD]);
    assert.deepEqual([first, third], [7, 7]);
    assert.ok(second instanceof NodeError && second.code === -5);
    assert.deepEqual(await rpc.batchSettled([]), []);
  });

  it('a long batch is split into requests, and into smaller ones if the response is too large', async () => {
    const numbers = Array.from({ length: 45 }, (_, i) => i);
    assert.deepEqual(await rpc.batchSettled(calls(numbers)), numbers);
    // A few results fit in this many bytes.
    assert.deepEqual(await rpc.batchSettled(calls(numbers), { maxBytes: 200 }), numbers);
    await assert.rejects(rpc.batchSettled(calls(numbers), { maxBytes: 20 }), NodeResponseTooLarge);
  });

  it('calls whose results the node cut off are repeated in smaller batches', async () => {
    const cut = new Set([1, 2, 3]);
    const large = calls([0, 1, 2, 3]).map((call) => ({ ...call, method: 'cut once' }));
    shouldCut = (n) => cut.delete(n);
    assert.deepEqual(await rpc.batchSettled(large), [0, 1, 2, 3]);
    shouldCut = () => true;
    const [first] = await rpc.batchSettled(large.slice(0, 1));
    assert.ok(first instanceof NodeError && first.code === -32_003);
  });

  it('a rejected password is reported without the password or the address', async () => {
    const wrong = new JsonRpc({ url: server.url, authorization: basicAuth('wrong') });
    for (const call of [wrong.call('good', [1]), wrong.batchSettled([GOOD])]) {
      await assert.rejects(call, (error) => {
        assert.ok(error instanceof NodeUnreachable);
        assert.match(error.message, /rejected the user name or password/);
        assert.doesNotMatch(error.message, /wrong|127\.0\.0\.1/);
        return true;
      });
    }
  });
});
