import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { JsonRpc } from '../../src/drivers/chain/json-rpc.ts';
import { NodeError, NodeResponseTooLarge, NodeUnreachable } from '../../src/drivers/chain/node-http.ts';
import { basicAuth, RpcError, type RpcRequest, RpcServer } from './utxo/rpc-server.ts';

const PASSWORD = 'a-password-of-tests';
const GOOD = { method: 'good', params: [7] };
const BAD = { method: 'bad', params: [] };

describe('calls to a node', () => {
  let server: RpcServer;
  let rpc: JsonRpc;
  let once: (n: number) => boolean;
  const calls = (numbers: readonly number[]) => numbers.map((n) => ({ method: 'good', params: [n] }));
  before(async () => {
    server = await RpcServer.start(PASSWORD, ({ method, params }: RpcRequest) => {
      if (method === 'bad') throw new RpcError(-5, 'no such thing');
      if (method === 'cut once' && once(Number(params[0]))) throw new RpcError(-32_003, 'response too large');
      return method === 'nothing' ? null : params[0];
    });
    rpc = new JsonRpc({ url: server.url, authorization: basicAuth(PASSWORD) });
  });
  after(() => server.close());

  it('give a result, nothing among them, or the node’s own error', async () => {
    assert.equal(await rpc.call('good', ['a']), 'a');
    assert.equal(await rpc.call('nothing', []), null);
    await assert.rejects(rpc.call('bad', []), (error) => error instanceof NodeError && error.code === -5);
  });

  it('are made several at once, and an error of one is thrown, or stands in its place', async () => {
    assert.deepEqual(await rpc.batch([GOOD, GOOD]), [7, 7]);
    await assert.rejects(rpc.batch([GOOD, BAD, GOOD]), NodeError);
    const [first, second, third] = await rpc.batchSettled([GOOD, BAD, GOOD]);
    assert.deepEqual([first, third], [7, 7]);
    assert.ok(second instanceof NodeError && second.code === -5);
    assert.deepEqual(await rpc.batchSettled([]), []);
  });

  it('go in several requests where they are many, and in smaller ones where answers are too large together', async () => {
    const numbers = Array.from({ length: 45 }, (_, i) => i);
    assert.deepEqual(await rpc.batchSettled(calls(numbers)), numbers);
    // A few answers fit in that many bytes.
    assert.deepEqual(await rpc.batchSettled(calls(numbers), { maxBytes: 200 }), numbers);
    await assert.rejects(rpc.batchSettled(calls(numbers), { maxBytes: 20 }), NodeResponseTooLarge);
  });

  it('are made again one by one where the node cuts their answers off', async () => {
    const cut = new Set([1, 2, 3]);
    const large = calls([0, 1, 2, 3]).map((call) => ({ ...call, method: 'cut once' }));
    once = (n) => cut.delete(n);
    assert.deepEqual(await rpc.batchSettled(large), [0, 1, 2, 3]);
    once = () => true;
    const [first] = await rpc.batchSettled(large.slice(0, 1));
    assert.ok(first instanceof NodeError && first.code === -32_003);
  });

  it('say that a password is refused, and that nobody is there, without either', async () => {
    const wrong = new JsonRpc({ url: server.url, authorization: basicAuth('wrong') });
    for (const asked of [wrong.call('good', [1]), wrong.batchSettled([GOOD])]) {
      await assert.rejects(asked, (error) => {
        assert.ok(error instanceof NodeUnreachable);
        assert.match(error.message, /refuses our password/);
        assert.doesNotMatch(error.message, /wrong|127\.0\.0\.1/);
        return true;
      });
    }
  });
});
