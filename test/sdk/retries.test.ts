/** What is sent again, when and with what: against answers that are written down here. */
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

for (const [what, answer] of [
  ['a fault', errorResponse(500, 'internal')],
  ['maintenance', errorResponse(503, 'maintenance')],
  ['a broken connection', CONNECTION_ERROR],
  ['a page of a proxy', { status: 502, body: '<html>Bad Gateway</html>' }],
] as const) {
  it(`${what} is tried three times more, with the same key, and then told`, async (t: TestContext) => {
    const { skerry, sent, atMs } = createStubbedClient([answer]);
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

it('what passes by the second attempt succeeds, with the caller’s key over both', async (t) => {
  const { skerry, sent } = createStubbedClient([
    errorResponse(503, 'maintenance'),
    okResponse({ id: 'k_1' }),
  ]);
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
  it(`${status} is told at once`, async () => {
    const { skerry, sent } = createStubbedClient([errorResponse(status, code)]);
    await assert.rejects(skerry.servers.get('srv_1'), { name: 'ApiError', status, code, requestId: 'req_1' });
    assert.equal(sent.length, 1);
  });
}

it('with maxRetries 0 nothing is tried again', async () => {
  for (const answer of [errorResponse(500, 'internal'), CONNECTION_ERROR]) {
    const { skerry, sent } = createStubbedClient([answer], { maxRetries: 0 });
    await assert.rejects(skerry.servers.get('srv_1'));
    assert.equal(sent.length, 1);
  }
});

it('maintenance that says how long is waited for, when that is not long', async (t) => {
  const soon = errorResponse(503, 'maintenance', [{ field: '', issue: 'unavailable', retry_after_s: 7 }]);
  const { skerry, atMs } = createStubbedClient([soon, okResponse()]);
  await withFakeTimers(t, () => skerry.balance.get());
  assert.ok((atMs[1] ?? 0) >= 7_000, String(atMs[1]));
  const late = errorResponse(503, 'maintenance', [{ field: '', issue: 'unavailable', retry_after_s: 600 }]);
  const closed = createStubbedClient([late]);
  await assert.rejects(closed.skerry.balance.get(), { retryAfterS: 600, code: 'maintenance' });
  assert.equal(closed.sent.length, 1);
});

/** A bucket as the service has it: so many at once, then one in so many milliseconds. */
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

it('a hundred calls at once all come through, in turn, and few are turned away', async (t) => {
  const world = { answer: okResponse } as { answer: () => ReturnType<typeof okResponse> };
  const { skerry, sent, atMs } = createStubbedClient(() => world.answer());
  const call = () => {
    world.answer = bucket(10, 1_000);
    return Promise.all(Array.from({ length: 100 }, (_, index) => skerry.servers.get(`srv_${index}`)));
  };
  assert.equal((await withFakeTimers(t, call)).length, 100);
  // The first ninety learn that the bucket is empty; the rest is one each second.
  assert.ok(sent.length <= 200, `${sent.length} requests`);
  const spanMs = (atMs.at(-1) ?? 0) - (atMs[0] ?? 0);
  assert.ok(spanMs < 100_000, `${spanMs} ms`);
});

it('a call that would wait longer than it may is refused as the service refused it', async (t) => {
  const { skerry, sent } = createStubbedClient([rateLimitedResponse(2)], { rateLimitWaitMs: 5_000 });
  const error = await withFakeTimers(t, () => skerry.balance.get().catch((failure: unknown) => failure));
  assert.ok(isApiError(error, 'rate_limited'));
  assert.equal(error.retryAfterS, 2);
  assert.equal(sent.length, 3);
  const never = createStubbedClient([rateLimitedResponse(1)], { rateLimitWaitMs: 0 });
  await assert.rejects(never.skerry.balance.get(), { status: 429 });
});

it('who leaves the line holds nobody up, and its reason is thrown', async (t) => {
  let empty = true;
  const { skerry } = createStubbedClient(() => (empty ? rateLimitedResponse(1) : okResponse()));
  const leaving = new AbortController();
  const mine = new Error('changed my mind');
  const call = async () => {
    const left = Array.from({ length: 50 }, () =>
      skerry.balance.get({ signal: leaving.signal }).catch((error: unknown) => error),
    );
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort(mine);
    assert.deepEqual(new Set(await Promise.all(left)), new Set([mine]));
    empty = false;
    const startedMs = Date.now();
    await skerry.balance.get();
    return Date.now() - startedMs;
  };
  const waitedMs = await withFakeTimers(t, call);
  assert.ok(waitedMs <= 2_000, `${waitedMs} ms`);
});

it('ordering servers has a line of its own', async (t) => {
  const order = { name: 'a', plan: 's1', region: 'par', image: 'img_1', ssh_keys: [] };
  let refusals = 1;
  const { skerry, sent, atMs } = createStubbedClient((request) =>
    request.method === 'POST' && refusals-- > 0 ? rateLimitedResponse(5) : okResponse(),
  );
  await withFakeTimers(t, () => Promise.all([skerry.servers.create(order), skerry.balance.get()]));
  assert.deepEqual(sent.map(({ method }) => method).sort(), ['GET', 'POST', 'POST']);
  assert.ok((atMs[sent.findIndex(({ method }) => method === 'GET')] ?? 9) < 100);
});

it('a proxy’s page is an error without a code', async () => {
  const { skerry } = createStubbedClient([{ status: 502, body: '<html>Bad Gateway</html>' }], {
    maxRetries: 0,
  });
  const error = await skerry.balance.get().catch((failure: unknown) => failure);
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.errors], [502, null, []]);
  assert.equal(error.message, 'The answer was HTTP 502 without a reason.');
});

it('a page of something else instead of an answer is no answer', async () => {
  const { skerry } = createStubbedClient([{ status: 200, body: '<html>Welcome to the hotel</html>' }], {
    maxRetries: 0,
  });
  await assert.rejects(
    skerry.balance.get(),
    (error) => error instanceof ConnectionError && /something else than JSON/.test(error.message),
  );
});

it('what cannot be sent is told at once, and is not sent', async () => {
  const { skerry, sent } = createStubbedClient([okResponse()]);
  for (const id of ['', '.', '..', undefined, { id: 'srv_1' }]) {
    await assert.rejects(skerry.servers.delete(id as string), {
      name: 'SkerryError',
      message: /is not an id/,
    });
  }
  await assert.rejects(skerry.firewallRules.delete('fwg_1', '..'), { message: 'rule_id is not an id' });
  await assert.rejects(skerry.sshKeys.create(KEY, { idempotencyKey: 'line\nend' }), TypeError);
  assert.equal(sent.length, 0);
});

it('no error shows the token', async () => {
  const errors = [];
  for (const answer of [
    errorResponse(401, 'unauthenticated'),
    CONNECTION_ERROR,
    { status: 502, body: 'x' },
  ]) {
    const { skerry } = createStubbedClient([answer], { maxRetries: 0 });
    errors.push(await skerry.balance.get().catch((error: unknown) => error));
  }
  assert.ok(!inspect(errors, { depth: null, showHidden: true }).includes(TOKEN));
  assert.ok(!inspect(createStubbedClient([okResponse()]).skerry, { depth: null }).includes(TOKEN));
});
