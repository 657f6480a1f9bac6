/** Retries of requests, against scripted responses. */
import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import { inspect } from 'node:util';
import { ApiError, ConnectionError, isApiError } from '@skerry/sdk';
import {
  CONNECTION_ERROR,
  createStubbedClient,
  errorResponse,
  okResponse,
  rateLimitedResponse,
  TOKEN,
  withFakeTimers,
} from './stubbed-client.ts';

const KEY = { name: 'laptop', public_key: 'ssh-ed25519 AAAA' };
const keysOf = (sent: readonly Request[]) => sent.map(({ headers }) => headers.get('idempotency-key'));

for (const [failure, response] of [
  ['an internal error', errorResponse(500, 'internal')],
  ['maintenance', errorResponse(503, 'maintenance')],
  ['a broken connection', CONNECTION_ERROR],
  ['an error page of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }],
] as const) {
  it(`${failure} is thrown after three retries with the same key`, async (t: TestContext) => {
    const { skerry, sent, atMs } = createStubbedClient([response]);
    await assert.rejects(withFakeTimers(t, () => skerry.sshKeys.create(KEY)));
    assert.equal(sent.length, 4);
    assert.equal(new Set(keysOf(sent)).size, 1);
    assert.match(keysOf(sent)[0] ?? '', /^[0-9a-f-]{36}$/);
    const pauses = atMs.slice(1).map((ms, index) => ms - (atMs[index] ?? 0));
    assert.ok(
      pauses.every((ms, index) => ms >= 250 * 2 ** index),
      pauses.join(),
    );
  });
}

it('a temporary failure is retried with the caller’s key', async (t) => {
  const responses = [errorResponse(503, 'maintenance'), okResponse({ id: 'k_1' })];
  const { skerry, sent } = createStubbedClient(responses);
  const options = { idempotencyKey: 'mine' };
  assert.equal((await withFakeTimers(t, () => skerry.sshKeys.create(KEY, options))).id, 'k_1');
  assert.deepEqual(keysOf(sent), ['mine', 'mine']);
  assert.deepEqual(await Promise.all(sent.map((one) => one.json())), [KEY, KEY]);
});

for (const [status, code] of [
  [400, 'invalid_request'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict_state'],
  [422, 'unprocessable'],
  [451, 'legal_restriction'],
] as const) {
  it(`status ${status} is thrown without a retry`, async () => {
    const { skerry, sent } = createStubbedClient([errorResponse(status, code)]);
    await assert.rejects(skerry.servers.get('srv_1'), { name: 'ApiError', status, code, requestId: 'req_1' });
    assert.equal(sent.length, 1);
  });
}

it('maxRetries 0 turns off retries', async () => {
  for (const response of [errorResponse(500, 'internal'), CONNECTION_ERROR]) {
    const { skerry, sent } = createStubbedClient([response], { maxRetries: 0 });
    await assert.rejects(skerry.servers.get('srv_1'));
    assert.equal(sent.length, 1);
  }
});

it('a short maintenance is waited for as long as the service says, and a long one is thrown', async (t) => {
  const soon = errorResponse(503, 'maintenance', [{ field: '', issue: 'unavailable', retry_after_s: 7 }]);
  const { skerry, atMs } = createStubbedClient([soon, okResponse()]);
  await withFakeTimers(t, () => skerry.balance.get());
  assert.ok((atMs[1] ?? 0) >= 7_000, String(atMs[1]));
  const late = errorResponse(503, 'maintenance', [{ field: '', issue: 'unavailable', retry_after_s: 600 }]);
  const closed = createStubbedClient([late]);
  await assert.rejects(closed.skerry.balance.get(), { retryAfterS: 600, code: 'maintenance' });
  assert.equal(closed.sent.length, 1);
});

/** A rate limit like the service's: a burst of `capacity`, then one request per `refillMs`. */
function bucket(capacity: number, refillMs: number) {
  let tokens = capacity;
  let fullAtMs = Date.now();
  return () => {
    tokens = Math.min(capacity, tokens + (Date.now() - fullAtMs) / refillMs);
    fullAtMs = Date.now();
    if (tokens < 1) return rateLimitedResponse(Math.ceil(((1 - tokens) * refillMs) / 1_000));
    tokens -= 1;
    return okResponse();
  };
}

it('a hundred concurrent calls all succeed in turn, with few refusals', async (t) => {
  const world = { respond: okResponse } as { respond: () => ReturnType<typeof okResponse> };
  const { skerry, sent, atMs } = createStubbedClient(() => world.respond());
  const call = () => {
    world.respond = bucket(10, 1_000);
    return Promise.all(Array.from({ length: 100 }, (_, index) => skerry.servers.get(`srv_${index}`)));
  };
  assert.equal((await withFakeTimers(t, call)).length, 100);
  // Ninety calls learn at first that the bucket is empty; then one succeeds per second.
  assert.ok(sent.length <= 200, `${sent.length} requests`);
  const spanMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0);
  assert.ok(spanMs < 100_000, `${spanMs} ms`);
});

it('a call that would exceed its wait for the rate limit throws the refusal', async (t) => {
  const { skerry, sent } = createStubbedClient([rateLimitedResponse(2)], { rateLimitWaitMs: 5_000 });
  const error = await withFakeTimers(t, () => skerry.balance.get().catch((failure: unknown) => failure));
  assert.ok(isApiError(error, 'rate_limited'));
  assert.equal(error.retryAfterS, 2);
  assert.equal(sent.length, 3);
  const never = createStubbedClient([rateLimitedResponse(1)], { rateLimitWaitMs: 0 });
  await assert.rejects(never.skerry.balance.get(), { status: 429 });
});

it('aborted calls throw their reason and delay no other call', async (t) => {
  let empty = true;
  const { skerry } = createStubbedClient(() => (empty ? rateLimitedResponse(1) : okResponse()));
  const leaving = new AbortController();
  const reason = new Error('changed my mind');
  const call = async () => {
    const left = Array.from({ length: 50 }, () =>
      skerry.balance.get({ signal: leaving.signal }).catch((error: unknown) => error),
    );
    for (let round = 0; round < 5; round++) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(reason);
    assert.deepEqual(new Set(await Promise.all(left)), new Set([reason]));
    empty = false;
    const startedMs = Date.now();
    await skerry.balance.get();
    return Date.now() - startedMs;
  };
  const waitedMs = await withFakeTimers(t, call);
  assert.ok(waitedMs <= 2_000, `${waitedMs} ms`);
});

it('creating servers has a rate limit of its own', async (t) => {
  const order = { name: 'a', plan: 's1', region: 'par', image: 'img_1', ssh_keys: [] };
  let refusals = 1;
  const { skerry, sent, atMs } = createStubbedClient((request) =>
    request.method === 'POST' && refusals-- > 0 ? rateLimitedResponse(5) : okResponse(),
  );
  await withFakeTimers(t, () => Promise.all([skerry.servers.create(order), skerry.balance.get()]));
  assert.deepEqual(sent.map(({ method }) => method).sort(), ['GET', 'POST', 'POST']);
  assert.ok((atMs[sent.findIndex(({ method }) => method === 'GET')] ?? 9) < 100);
});

it('an error page of a proxy is an error without a code', async () => {
  const page = { status: 502, body: '<html>Bad Gateway</html>' };
  const { skerry } = createStubbedClient([page], { maxRetries: 0 });
  const error = await skerry.balance.get().catch((failure: unknown) => failure);
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.errors], [502, null, []]);
  assert.equal(error.message, 'The response was HTTP 502 without an error.');
});

it('an HTML page with status 200 is a connection error', async () => {
  const { skerry } = createStubbedClient([{ status: 200, body: '<html>Welcome to the hotel</html>' }], {
    maxRetries: 0,
  });
  await assert.rejects(
    skerry.balance.get(),
    (error) => error instanceof ConnectionError && /is not JSON/.test(error.message),
  );
});

it('invalid input is rejected without sending a request', async () => {
  const { skerry, sent } = createStubbedClient([okResponse()]);
  for (const id of ['', '.', '..', undefined, { id: 'srv_1' }]) {
    await assert.rejects(skerry.servers.delete(id as string), {
      name: 'SkerryError',
      message: /is not a valid ID/,
    });
  }
  await assert.rejects(skerry.firewallRules.delete('fwg_1', '..'), { message: 'rule_id is not a valid ID' });
  await assert.rejects(skerry.sshKeys.create(KEY, { idempotencyKey: 'line\nend' }), TypeError);
  assert.equal(sent.length, 0);
});

it('no error reveals the token', async () => {
  const errors = [];
  const proxyError = { status: 502, body: 'x' };
  for (const response of [errorResponse(401, 'unauthenticated'), CONNECTION_ERROR, proxyError]) {
    const { skerry } = createStubbedClient([response], { maxRetries: 0 });
    errors.push(await skerry.balance.get().catch((error: unknown) => error));
  }
  assert.ok(!inspect(errors, { depth: null, showHidden: true }).includes(TOKEN));
  assert.ok(!inspect(createStubbedClient([okResponse()]).skerry, { depth: null }).includes(TOKEN));
});
