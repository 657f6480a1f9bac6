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

  it('an unknown path gets 401 without a token and 404 with one', async () => {
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
  it('the OpenAPI document is public', async () => {
    const answer = await world.app.inject('/v1/openapi.json');
    assert.equal(answer.statusCode, 200);
    assert.equal(JSON.parse(answer.body).openapi, '3.1.0');
    assert.equal(answer.headers['access-control-allow-origin'], '*');
  });

  it('a preflight from any origin is answered without a token', async () => {
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

  it('requests that fail below the router also get the envelope', async () => {
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

  it('a body that does not end gets 400, and then the connection closes', async () => {
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

  it('a body that is late before anything reads it closes the connection and not the process', async () => {
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

  it('general requests and server orders draw from separate buckets', async () => {
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
        assert.equal((await other.get('/plans')).status, 200, 'another token has its own bucket');
      } finally {
        await small.close();
      }
    }
  });

  it('the last use of a token is recorded at most once per minute', async () => {
    const client = api.withToken(await createApiToken(await world.customer()));
    const usedAt = async () => (await client.get('/account/tokens')).body.data[0].last_used_at;
    const first = await usedAt();
    world.clock.offsetMs += 30_000;
    assert.equal(await usedAt(), first);
    world.clock.offsetMs += 31_000;
    assert.notEqual(await usedAt(), first);
  });

  it('failed tokens count by address if the operator limits them', async () => {
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

/** The server’s response to bytes that are not a request. */
async function sendRawRequest(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('utf8').on('data', (part) => {
    answer += part;
  });
  // A truncated connection closes next.
  socket.on('error', () => undefined);
  socket.write(text);
  await new Promise((resolve) => socket.once('close', resolve));
  return answer;
}
