/**
 * Errors of requests without a response: their messages, and whether the request may have been carried out.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { ApiError, ConnectionError, Skerry, SkerryError, TimeoutError } from '@skerry/sdk';
import {
  createStubbedClient,
  errorResponse,
  okResponse,
  type StubResponse,
  withFakeTimers,
} from './stubbed-client.ts';

const ORDER = { name: 'a', plan: 's1', region: 'par', image: 'img_1', ssh_keys: [] };
const OWN_KEY = { idempotencyKey: 'mine' };
const CONNECT_REFUSED = fetchError('connect ECONNREFUSED', { code: 'ECONNREFUSED' });
const CONNECTION_CUT = fetchError('other side closed', { code: 'UND_ERR_SOCKET' });
const MAY_BE_DONE = / The request may have been carried out\.$/;

function fetchError(message: string, more: object): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), more) });
}

async function expectFailure(promise: Promise<unknown>): Promise<SkerryError> {
  const error = await promise.then(
    () => null,
    (fault: unknown) => fault,
  );
  assert.ok(error instanceof SkerryError);
  return error;
}

/** Starts a service that handles every request with this listener. */
async function withService(listener: RequestListener, use: (skerry: Skerry) => Promise<void>): Promise<void> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await use(new Skerry({ baseUrl: `http://127.0.0.1:${port}`, token: 't', maxRetries: 0 }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it('an order whose connection breaks may be done, and its error has the key', async () => {
  const cut: RequestListener = (request) => request.socket.destroy();
  await withService(cut, async (skerry) => {
    const error = await expectFailure(skerry.servers.create(ORDER, OWN_KEY));
    assert.ok(error instanceof ConnectionError);
    assert.deepEqual([error.mayBeDone, error.idempotencyKey], [true, 'mine']);
    assert.match(error.message, MAY_BE_DONE);
    const read = await expectFailure(skerry.balance.get());
    assert.deepEqual([read.mayBeDone, read.idempotencyKey], [false, null]);
    assert.doesNotMatch(read.message, MAY_BE_DONE);
    const changed = await expectFailure(skerry.servers.update('srv_1', { name: 'b' }));
    assert.deepEqual([changed.mayBeDone, changed.idempotencyKey], [true, null]);
  });
});

it('an order that times out may be done, and an order to an unreachable host is not', async () => {
  await withService(
    () => undefined,
    async (skerry) => {
      const error = await expectFailure(skerry.servers.create(ORDER, { timeoutMs: 30 }));
      assert.ok(error instanceof TimeoutError);
      assert.ok(error.mayBeDone);
      assert.match(error.idempotencyKey ?? '', /^[0-9a-f-]{36}$/);
      assert.match(error.message, /^No response within 30 ms\. The request may/);
    },
  );
  for (const baseUrl of ['http://127.0.0.1:9', 'http://no-such-host.invalid']) {
    const nowhere = new Skerry({ baseUrl, token: 't', maxRetries: 0 });
    const error = await expectFailure(nowhere.servers.create(ORDER));
    assert.equal(error.mayBeDone, false, error.message);
    assert.match(error.message, /^Could not reach http\S+: /);
  }
});

for (const [outcome, responses, mayBeDone] of [
  ['a broken connection and an unreachable host', [CONNECTION_CUT, CONNECT_REFUSED], true],
  ['a broken connection and maintenance', [CONNECTION_CUT, errorResponse(503, 'maintenance')], true],
  ['a broken connection and a refusal', [CONNECTION_CUT, errorResponse(422, 'unprocessable')], false],
  ['a broken connection and a revoked token', [CONNECTION_CUT, errorResponse(401, 'unauthenticated')], true],
  ['a proxy error', [{ status: 502, body: '<html>' }], true],
  ['a proxy error with a status of its own', [{ status: 520, body: '<html>' }], true],
  ['maintenance', [errorResponse(503, 'maintenance')], false],
  ['an unreachable host', [CONNECT_REFUSED], false],
  ['a success without an object', [{ status: 200, body: '' }], true],
] as const satisfies readonly (readonly [string, readonly StubResponse[], boolean])[]) {
  it(`an order that ends in ${outcome} ${mayBeDone ? 'may be' : 'is not'} done`, async (t) => {
    const { skerry } = createStubbedClient(responses);
    const error = await expectFailure(withFakeTimers(t, () => skerry.servers.create(ORDER, OWN_KEY)));
    assert.deepEqual([error.mayBeDone, error.idempotencyKey], [mayBeDone, 'mine']);
    assert.equal(MAY_BE_DONE.test(error.message), mayBeDone, error.message);
  });
}

it('a deletion that returns 404 succeeds only after a lost response', async (t) => {
  const gone = errorResponse(404, 'not_found');
  const proxyErrors = [502, 504].map((status) => ({ status, body: '' }));
  for (const lost of [CONNECTION_CUT, errorResponse(500, 'internal'), ...proxyErrors]) {
    const { skerry, sent } = createStubbedClient([lost, gone]);
    assert.deepEqual(await withFakeTimers(t, () => skerry.volumes.delete('vol_1')), { action: null });
    assert.equal(sent.length, 2);
  }
  for (const before of [[], [errorResponse(503, 'maintenance')], [CONNECT_REFUSED]]) {
    const { skerry } = createStubbedClient([...before, gone]);
    const error = await expectFailure(withFakeTimers(t, () => skerry.volumes.delete('vol_typo')));
    assert.ok(error instanceof ApiError && error.code === 'not_found' && !error.mayBeDone);
  }
});

it('deleting a server after a lost response throws not_found and says that it may be done', async (t) => {
  const { skerry } = createStubbedClient([CONNECTION_CUT, errorResponse(404, 'not_found')]);
  const error = await expectFailure(withFakeTimers(t, () => skerry.servers.delete('srv_1')));
  assert.ok(error instanceof ApiError && error.code === 'not_found' && error.mayBeDone);
});

it('a response without the requested object is an error', async () => {
  for (const [body, call] of [
    ['', (skerry: Skerry) => skerry.balance.get()],
    ['7', (skerry: Skerry) => skerry.balance.get()],
    ['null', (skerry: Skerry) => skerry.servers.get('srv_1')],
    ['{}', (skerry: Skerry) => skerry.webhooks.list().all()],
    ['{"data":null}', (skerry: Skerry) => skerry.servers.list().first()],
  ] as const) {
    const { skerry } = createStubbedClient([{ status: 200, body }], { maxRetries: 0 });
    const error = await expectFailure(call(skerry));
    assert.ok(error instanceof ConnectionError, body);
    assert.match(error.message, /The response of http\S+ is incomplete/);
  }
});

it('a malformed refusal keeps the parts that are readable', async () => {
  const body = { error: { code: 'teapot', errors: [null, 7, { field: 'a', issue: 'hot' }] } };
  const { skerry, sent } = createStubbedClient([{ status: 418, body }]);
  const error = await expectFailure(skerry.balance.get());
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.errors.length], [418, 'teapot', 1]);
  assert.equal(error.message, 'teapot (a: hot)');
  assert.equal(sent.length, 1);
});

it('onRetry is called before each retry', async (t) => {
  const retries: string[] = [];
  const onRetry = ({ name }: SkerryError) => retries.push(name);
  const responses = [CONNECTION_CUT, errorResponse(500, 'internal'), okResponse()];
  const { skerry } = createStubbedClient(responses, { onRetry });
  await withFakeTimers(t, () => skerry.balance.get());
  assert.deepEqual(retries, ['ConnectionError', 'ApiError']);
});
