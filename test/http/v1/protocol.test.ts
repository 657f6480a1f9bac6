import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { assertApiError, createApiToken, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('REST protocol', () => {
  let world: HttpWorld;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    api = V1Client.forApp(world.app, await createApiToken(await world.customer()));
  });
  after(() => world.close());

  async function listen(): Promise<number> {
    await world.app.listen({ port: 0, host: '127.0.0.1' });
    const address = world.app.server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  it('answers 401 without a token and 404 with one where nothing is', async () => {
    assertApiError(await api.withToken(null).get('/nothing'), 401, 'unauthenticated');
    assertApiError(await api.get('/nothing'), 404, 'not_found');
    assertApiError(await api.call('DELETE', '/openapi.json'), 404, 'not_found');
    for (const method of ['PATCH', 'TRACE', 'PROPFIND', 'SEARCH']) {
      assertApiError(await api.call(method, '/servers/x/y'), 404, 'not_found');
    }
    assertApiError(await api.get('/%zz'), 404, 'not_found');
    assertApiError(await api.withToken(null).get('/%zz'), 401, 'unauthenticated');
    assertApiError(await api.get(''), 404, 'not_found');
  });
  it('shows its document to everybody', async () => {
    const answer = await world.app.inject('/v1/openapi.json');
    assert.equal(answer.statusCode, 200);
    assert.equal(JSON.parse(answer.body).openapi, '3.1.0');
    assert.equal(answer.headers['access-control-allow-origin'], '*');
  });

  it('answers a preflight of any origin without a token', async () => {
    for (const url of ['/v1/servers', '/v1/servers/srv_x/stop', '/v1/nothing']) {
      const answer = await world.app.inject({
        method: 'OPTIONS',
        url,
        headers: { origin: 'https://a.example' },
      });
      assert.deepEqual([answer.statusCode, answer.body], [204, '']);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['access-control-allow-credentials'], undefined);
      assert.match(String(answer.headers['access-control-allow-methods']), /DELETE/);
      assert.match(String(answer.headers['access-control-allow-headers']), /Idempotency-Key/);
    }
    const session = await world.app.inject({ method: 'GET', url: '/me.php' });
    assert.equal(session.headers['access-control-allow-origin'], undefined);
  });

  it('answers what fails below the router with the envelope too', async () => {
    const port = await listen();
    for (const text of [
      `GET /v1/plans HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
      'NONSENSE /v1/plans HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET /v1/plans HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n',
    ]) {
      const answer = await sendRawRequest(port, text);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
      assert.equal(body.error.code, 'invalid_request');
      assert.ok(answer.includes(`X-Request-Id: ${body.error.request_id}`));
    }
  });

  it('answers a body that does not come to its end with 400, then lets go', async () => {
    const slow = await startHttpWorld({ bodyTimeoutMs: 1_000 });
    try {
      const token = await createApiToken(await slow.customer());
      await slow.app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = slow.app.server.address() as AddressInfo;
      const head = `POST /v1/account/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
      const rest = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":';
      const answer = await sendRawRequest(port, head + rest);
      assert.match(answer, /^HTTP\/1\.1 400 /);
      assert.match(answer, /"code":"invalid_request","message":"The body took too long to arrive\."/);
    } finally {
      await slow.close();
    }
  });

  it('lets go of one whose body is late before anybody reads it, and lives on', async () => {
    const slow = await startHttpWorld({ bodyTimeoutMs: 1 });
    try {
      await slow.app.listen({ port: 0, host: '127.0.0.1' });
      const { port } = slow.app.server.address() as AddressInfo;
      const token = await createApiToken(await slow.customer());
      const head = `POST /v1/account/tokens HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n`;
      const rest = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":';
      assert.match(await sendRawRequest(port, head + rest), /^$|^HTTP\/1\.1 400 /);
      assert.match(
        await sendRawRequest(port, 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'),
        /^HTTP\/1\.1 200 /,
      );
    } finally {
      await slow.close();
    }
  });

  it('draws requests from one bucket and orders of servers from another', async () => {
    const rates = {
      general: { capacity: 3, refillPerS: 0.001 },
      provision: { capacity: 2, refillPerS: 0.001 },
      shared: false,
    };
    for (const shared of [false, true]) {
      const small = await startHttpWorld({ settings: { rates: { ...rates, shared } } });
      try {
        const client = V1Client.forApp(small.app, await createApiToken(await small.customer()));
        const other = client.withToken(await createApiToken(await small.customer()));
        const general = [];
        for (let n = 0; n < 4; n++) general.push(await client.get('/plans'));
        assert.deepEqual(
          general.map(({ status, headers }) => [status, headers.get('x-ratelimit-remaining')]),
          [
            [200, '2'],
            [200, '1'],
            [200, '0'],
            [429, '0'],
          ],
        );
        const [, , , last] = general;
        assert.ok(Number(last?.headers.get('retry-after')) > 900);
        assert.ok(Number(last?.headers.get('x-ratelimit-reset')) > Date.now() / 1_000 + 2_900);
        assert.equal(general[0]?.headers.get('retry-after'), null);
        assert.deepEqual(
          [
            await client.post('/servers', {}),
            await client.post('/servers', {}),
            await client.post('/servers', {}),
          ].map((answer) => answer.status),
          [400, 400, 429],
        );
        assert.equal((await other.get('/plans')).status, 200, 'another token has a bucket of its own');
      } finally {
        await small.close();
      }
    }
  });

  it('stamps a token when it is used, at most once a minute', async () => {
    const client = api.withToken(await createApiToken(await world.customer()));
    const usedAt = async () => (await client.get('/account/tokens')).body.data[0].last_used_at;
    const first = await usedAt();
    world.clock.offsetMs += 30_000;
    assert.equal(await usedAt(), first);
    world.clock.offsetMs += 31_000;
    assert.notEqual(await usedAt(), first);
  });

  it('counts failed tokens by address where the operator limits them', async () => {
    const strict = await startHttpWorld({ settings: { tokenFailuresPerHour: 3 } });
    try {
      const client = V1Client.forApp(strict.app, await createApiToken(await strict.customer()));
      for (let n = 0; n < 5; n++) assert.equal((await client.get('/plans')).status, 200);
      for (let n = 0; n < 3; n++) assert.equal((await client.withToken('wrong').get('/plans')).status, 401);
      const refused = await client.withToken('wrong').get('/plans');
      assertApiError(refused, 429, 'rate_limited');
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
    } finally {
      await strict.close();
    }
  });
});

/** What a server answers to bytes that are no request. */
async function sendRawRequest(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (part) => {
    answer += part;
  });
  // One that is cut is closed next.
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
