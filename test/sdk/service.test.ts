/** The SDK against the real service: idempotency, pages, waiting, and refusals. */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { ApiError, type ClientOptions, ConnectionError, isApiError, Skerry, WaitError } from '@skerry/sdk';
import { NO_RATES, PUBLIC_KEY } from '../http/v1/contract/estate.ts';
import { createApiToken } from '../support/v1-client.ts';
import { startWorld, type World } from '../support/world.ts';

const HANGS = new AbortController();

describe('the SDK against the service', () => {
  let world: World;
  let token: string;
  let skerry: Skerry;
  let image: string;
  let key: string;
  /** Responds only to paths below /elsewhere. */
  let silent: Server;
  const redirected: string[] = [];

  before(async () => {
    world = await startWorld(NO_RATES);
    const customer = await world.customer();
    await world.addBalance(customer, 5_000n);
    token = await createApiToken(customer);
    skerry = client();
    key = (await skerry.sshKeys.create({ name: 'laptop', public_key: PUBLIC_KEY })).id;
    const images = await skerry.images.list({ filter: { family: 'debian' } }).all();
    image = images.find((one) => one.deprecated_at === null)?.id ?? '';
    silent = createServer((request, response) => {
      if (!request.url?.startsWith('/elsewhere')) return;
      redirected.push(request.url);
      response.writeHead(302, { location: `${world.url}/v1/billing/balance` }).end();
    });
    await once(silent.listen(0, '127.0.0.1'), 'listening');
  });
  after(async () => {
    silent.closeAllConnections();
    silent.close();
    await world.close();
  });

  const client = (options: Partial<ClientOptions> = {}) =>
    new Skerry({ baseUrl: world.url, token, ...options });
  const silentUrl = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const order = (name: string, plan = 's1') => ({ name, plan, region: 'par', image, ssh_keys: [key] });

  /** A client whose first `times` responses are replaced after the service has handled the request. */
  function losing(times: number, instead: () => Response | never) {
    let left = times;
    const requests: Request[] = [];
    const fetch = async (request: Request) => {
      requests.push(request.clone());
      const response = await globalThis.fetch(request);
      if (left-- <= 0) return response;
      await response.text();
      return instead();
    };
    return { skerry: client({ fetch }), requests };
  }
  const lost = () => {
    throw new TypeError('terminated');
  };

  for (const [failure, name, instead] of [
    ['a lost response', 'lost', lost],
    ['a 500 instead of the response', 'fault', () => new Response('oops', { status: 500 })],
    ['a 503 instead of the response', 'closed', () => new Response('{}', { status: 503 })],
  ] as const) {
    it(`${failure} creates no second server, and the retry returns the first response`, async () => {
      const { skerry: unlucky, requests } = losing(1, instead);
      const before = (await skerry.balance.get()).usd;
      const server = await unlucky.servers.create(order(name));
      assert.equal(requests.length, 2);
      const made = await skerry.servers.list({ filter: { name } }).all();
      assert.deepEqual(
        made.map(({ id }) => id),
        [server.id],
      );
      const { data } = await skerry.plans.list().first();
      const price = data.find(({ id }) => id === 's1')?.price_usd_month ?? 0;
      assert.equal((await skerry.balance.get()).usd, Math.round((before - price) * 100) / 100);
    });
  }

  it('two clients with the same idempotency key create one volume', async () => {
    const body = { name: 'kept', size_gb: 10, region: 'par' };
    const [first, second] = await Promise.all(
      [client(), client()].map((one) => one.volumes.create(body, { idempotencyKey: 'my-volume' })),
    );
    assert.equal(first?.id, second?.id);
    const { action } = await skerry.volumes.delete(String(first?.id));
    const removed = await skerry.waitForAction(action ?? assert.fail('no action'));
    assert.deepEqual([removed.command, removed.status], ['volume.delete', 'success']);
  });

  it('a deletion with a lost response succeeds', async () => {
    const { id } = await skerry.sshKeys.create({ name: 'brief', public_key: PUBLIC_KEY });
    const { skerry: unlucky, requests } = losing(1, lost);
    assert.equal(await unlucky.sshKeys.delete(id), undefined);
    assert.equal(requests.length, 2);
    await assert.rejects(skerry.sshKeys.get(id), { code: 'not_found' });
  });

  it('a list sends each of its labels, with every page', async () => {
    const labels = { env: 'prod', tier: 'a & b:c' };
    const made = [];
    for (let n = 0; n < 3; n++) {
      const { id } = await skerry.volumes.create({ name: 'labeled', size_gb: 10, region: 'par', labels });
      made.unshift(id);
    }
    await skerry.volumes.create({ name: 'labeled', size_gb: 10, region: 'par', labels: { env: 'prod' } });
    const query = { label: ['env:prod', 'tier:a & b:c'], filter: { name: 'labeled' }, page_size: 2 };
    const found = await skerry.volumes.list(query).all();
    assert.deepEqual(
      found.map(({ id }) => id),
      made,
    );
    assert.equal((await skerry.volumes.list({ label: [] }).all()).length, 4);
    assert.deepEqual(await skerry.servers.list({ label: ['env:none'] }).all(), []);
    assert.deepEqual(await skerry.snapshots.list({ label: ['env:none'] }).all(), []);
    await assert.rejects(skerry.volumes.list({ label: ['env'] }).all(), { code: 'invalid_request' });
    for (const { id } of await skerry.volumes.list().all()) await skerry.volumes.delete(id);
  });

  it('a list fetches pages as they are needed, with its filter, and stops with the loop', async () => {
    for (let n = 0; n < 5; n++) {
      await skerry.volumes.create({ name: `page-${n}`, size_gb: 10, region: n === 4 ? 'zrh' : 'par' });
    }
    const searches: string[] = [];
    const counting = client({
      fetch: (request) => {
        searches.push(new URL(request.url).search);
        return globalThis.fetch(request);
      },
    });
    const query = { filter: { region: 'par' }, sort: 'name', page_size: 2 } as const;
    const names = [];
    for await (const { name } of counting.volumes.list(query)) names.push(name);
    assert.deepEqual(names, ['page-0', 'page-1', 'page-2', 'page-3']);
    assert.equal(searches.length, 2);
    assert.ok(
      searches.every((search) => search.includes('filter[region]=par') && search.includes('sort=name')),
    );
    const sizes = [];
    for await (const page of counting.volumes.list(query).pages()) sizes.push(page.data.length);
    assert.deepEqual(sizes, [2, 2]);
    searches.length = 0;
    for await (const { name } of counting.volumes.list(query)) if (name === 'page-1') break;
    assert.equal((await counting.volumes.list(query).all(2)).length, 2);
    assert.equal((await counting.volumes.list(query).first()).has_more, true);
    assert.equal(searches.length, 3);
    assert.deepEqual(await counting.volumes.list(query).all(0), []);
    assert.equal((await counting.volumes.list().all()).length, 5);
    assert.equal(searches.length, 4);
  });

  it('waitFor reports each status until the server is running, and rejects if it is deleted', async () => {
    const server = await skerry.servers.create(order('awaited'));
    const seen: string[] = [];
    const onLook = ({ status }: { status: string }) => seen.push(status);
    const running = await skerry.waitFor(server, 'running', { intervalMs: 20, onLook });
    assert.ok(running.ipv4);
    assert.equal(seen.at(-1), 'running');
    await skerry.servers.delete(server.id);
    await world.settle();
    await assert.rejects(
      skerry.waitFor(server, 'running', { intervalMs: 20 }),
      (error) => error instanceof WaitError && error.last === null && error.message.includes(server.id),
    );
  });

  it('a refusal names the invalid fields', async () => {
    const error = await skerry.servers
      .create({ ...order('Not A Name'), plan: 's1' })
      .catch((e: unknown) => e);
    assert.ok(isApiError(error, 'invalid_request'));
    assert.equal(error.status, 400);
    assert.ok(error.item('name'));
    assert.equal(error.item('plan'), undefined);
    assert.match(error.requestId ?? '', /^req_/);
    assert.match(error.message, /name: /);
  });

  it('an insufficient balance is refused with the shortfall', async () => {
    const error = await skerry.servers.create(order('dear', 'r3')).catch((e: unknown) => e);
    assert.ok(isApiError(error) && error instanceof ApiError);
    assert.equal(error.status, 422);
    const { have, need, deficit } = error.errors.find(({ issue }) => issue === 'insufficient_balance') ?? {};
    assert.ok(have !== undefined && need !== undefined && deficit !== undefined);
    assert.equal(have, (await skerry.balance.get()).usd);
    assert.equal(Math.round((need - have) * 100), Math.round(deficit * 100));
  });

  it('a call without a response ends by its timeout, or throws the reason of its signal', async () => {
    const hanging = new Skerry({ baseUrl: silentUrl(), token, maxRetries: 0 });
    await assert.rejects(hanging.balance.get({ timeoutMs: 20 }), {
      name: 'TimeoutError',
      message: 'No response within 20 ms.',
    });
    const { signal } = HANGS;
    const calls = Array.from({ length: 12 }, () => hanging.servers.get('srv_1', { signal }));
    const reason = new Error('enough');
    HANGS.abort(reason);
    const results = await Promise.allSettled(calls);
    assert.ok(results.every((result) => result.status === 'rejected' && result.reason === reason));
    await assert.rejects(hanging.balance.get({ signal }), reason);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('a finished call leaves no listener on its signal', async () => {
    const { signal } = new AbortController();
    for (let n = 0; n < 3; n++) await skerry.servers.list({}, { signal }).all();
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('an unreachable service and a redirect are connection errors', async () => {
    const nowhere = new Skerry({ baseUrl: 'http://127.0.0.1:9', token, maxRetries: 0 });
    await assert.rejects(
      nowhere.balance.get(),
      (error) => error instanceof ConnectionError && /^Could not reach /.test(error.message),
    );
    const sentAway = new Skerry({ baseUrl: `${silentUrl()}/elsewhere`, token, maxRetries: 0 });
    await assert.rejects(sentAway.balance.get(), { name: 'ConnectionError' });
    assert.deepEqual(redirected, ['/elsewhere/v1/billing/balance']);
  });

  it('the address may end in /v1; an invalid address or token is rejected and not repeated', () => {
    for (const baseUrl of [token, 'ftp://example.org', '', undefined as unknown as string]) {
      assert.throws(
        () => new Skerry({ baseUrl, token }),
        (error) => error instanceof Error && !error.message.includes(token) && /baseUrl/.test(error.message),
      );
    }
    for (const bad of ['', 'two words', undefined as unknown as string]) {
      assert.throws(() => new Skerry({ baseUrl: world.url, token: bad }), {
        message: 'token is not a valid API token',
      });
    }
    return assert.doesNotReject(client({ baseUrl: `${world.url}/v1/` }).balance.get());
  });
});
