/** A call that was sent and whose answer did not come: what is said of it, and what it is taken for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { ApiError, ConnectionError, Skerry, SkerryError, TimeoutError } from '@skerry/sdk';
import { type Answer, inNoTime, ok, refused, scripted } from './scripted.ts';

const ORDER = { name: 'a', plan: 's1', region: 'par', image: 'img_1', ssh_keys: [] };
const BY_HAND = { idempotencyKey: 'mine' };
const NOT_MADE = broken('connect ECONNREFUSED', { code: 'ECONNREFUSED' });
const CUT = broken('other side closed', { code: 'UND_ERR_SOCKET' });
const MAY_BE_DONE = / The call may have been carried out all the same\.$/;

function broken(message: string, more: object): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), more) });
}

async function failure(promise: Promise<unknown>): Promise<SkerryError> {
  const error = await promise.then(
    () => null,
    (fault: unknown) => fault,
  );
  assert.ok(error instanceof SkerryError);
  return error;
}

/** A service whose only answer is what this does. */
async function answering(answer: RequestListener, use: (skerry: Skerry) => Promise<void>): Promise<void> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    await use(new Skerry({ baseUrl: `http://127.0.0.1:${port}`, token: 't', maxRetries: 0 }));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

it('an order whose connection is cut may be done, and the error has its key', async () => {
  const cut: RequestListener = (request) => request.socket.destroy();
  await answering(cut, async (skerry) => {
    const error = await failure(skerry.servers.create(ORDER, BY_HAND));
    assert.ok(error instanceof ConnectionError);
    assert.deepEqual([error.mayBeDone, error.idempotencyKey], [true, 'mine']);
    assert.match(error.message, MAY_BE_DONE);
    const read = await failure(skerry.balance.get());
    assert.deepEqual([read.mayBeDone, read.idempotencyKey], [false, null]);
    assert.doesNotMatch(read.message, MAY_BE_DONE);
    const changed = await failure(skerry.servers.update('srv_1', { name: 'b' }));
    assert.deepEqual([changed.mayBeDone, changed.idempotencyKey], [true, null]);
  });
});

it('an order that is not answered in time may be done; one that reached nobody is not', async () => {
  await answering(
    () => undefined,
    async (skerry) => {
      const error = await failure(skerry.servers.create(ORDER, { timeoutMs: 30 }));
      assert.ok(error instanceof TimeoutError);
      assert.ok(error.mayBeDone);
      assert.match(error.idempotencyKey ?? '', /^[0-9a-f-]{36}$/);
      assert.match(error.message, /^No answer came within 30 ms\. The call may/);
    },
  );
  for (const baseUrl of ['http://127.0.0.1:9', 'http://no-such-host.invalid']) {
    const nowhere = new Skerry({ baseUrl, token: 't', maxRetries: 0 });
    const error = await failure(nowhere.servers.create(ORDER));
    assert.equal(error.mayBeDone, false, error.message);
    assert.match(error.message, /was not reached: /);
  }
});

for (const [what, answers, mayBeDone] of [
  ['cut, then not reached', [CUT, NOT_MADE], true],
  ['cut, then maintenance', [CUT, refused(503, 'maintenance')], true],
  ['cut, then refused for what it says', [CUT, refused(422, 'unprocessable')], false],
  ['cut, then signed out', [CUT, refused(401, 'unauthenticated')], true],
  ['a fault of a proxy', [{ status: 502, body: '<html>' }], true],
  ['a fault with a number of the proxy', [{ status: 520, body: '<html>' }], true],
  ['maintenance', [refused(503, 'maintenance')], false],
  ['not reached', [NOT_MADE], false],
  ['a success without an object', [{ status: 200, body: '' }], true],
] as const satisfies readonly (readonly [string, readonly Answer[], boolean])[]) {
  it(`an order: ${what}: ${mayBeDone ? 'may be' : 'is not'} done`, async (t) => {
    const { skerry } = scripted(answers);
    const error = await failure(inNoTime(t, () => skerry.servers.create(ORDER, BY_HAND)));
    assert.deepEqual([error.mayBeDone, error.idempotencyKey], [mayBeDone, 'mine']);
    assert.equal(MAY_BE_DONE.test(error.message), mayBeDone, error.message);
  });
}

it('a deletion that finds nothing is done after a lost answer, and after nothing else', async (t) => {
  const gone = refused(404, 'not_found');
  for (const lost of [CUT, refused(500, 'internal'), { status: 502, body: '' }, { status: 504, body: '' }]) {
    const { skerry, sent } = scripted([lost, gone]);
    assert.equal(await inNoTime(t, () => skerry.volumes.delete('vol_1')), undefined);
    assert.equal(sent.length, 2);
  }
  for (const before of [[], [refused(503, 'maintenance')], [NOT_MADE]]) {
    const { skerry } = scripted([...before, gone]);
    const error = await failure(inNoTime(t, () => skerry.volumes.delete('vol_typo')));
    assert.ok(error instanceof ApiError && error.code === 'not_found' && !error.mayBeDone);
  }
});

it('a server that is gone after a lost answer is refused as such, and says that it may be done', async (t) => {
  const { skerry } = scripted([CUT, refused(404, 'not_found')]);
  const error = await failure(inNoTime(t, () => skerry.servers.delete('srv_1')));
  assert.ok(error instanceof ApiError && error.code === 'not_found' && error.mayBeDone);
});

it('an answer without what was asked for is none', async () => {
  for (const [body, call] of [
    ['', (skerry: Skerry) => skerry.balance.get()],
    ['7', (skerry: Skerry) => skerry.balance.get()],
    ['null', (skerry: Skerry) => skerry.servers.get('srv_1')],
    ['{}', (skerry: Skerry) => skerry.webhooks.list().all()],
    ['{"data":null}', (skerry: Skerry) => skerry.servers.list().first()],
  ] as const) {
    const { skerry } = scripted([{ status: 200, body }], { maxRetries: 0 });
    const error = await failure(call(skerry));
    assert.ok(error instanceof ConnectionError, body);
    assert.match(error.message, /answered without what was asked for/);
  }
});

it('a refusal is told with what can be read of it', async () => {
  const body = { error: { code: 'teapot', errors: [null, 7, { field: 'a', issue: 'hot' }] } };
  const { skerry, sent } = scripted([{ status: 418, body }]);
  const error = await failure(skerry.balance.get());
  assert.ok(error instanceof ApiError);
  assert.deepEqual([error.status, error.code, error.errors.length], [418, 'teapot', 1]);
  assert.equal(error.message, 'teapot (a: hot)');
  assert.equal(sent.length, 1);
});

it('who asks to be told is told of each further try', async (t) => {
  const told: string[] = [];
  const onRetry = ({ name }: SkerryError) => told.push(name);
  const { skerry } = scripted([CUT, refused(500, 'internal'), ok()], { onRetry });
  await inNoTime(t, () => skerry.balance.get());
  assert.deepEqual(told, ['ConnectionError', 'ApiError']);
});
