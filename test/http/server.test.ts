import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpWorld, startHttpWorld } from './http-world.ts';
import { exchangeRaw } from './socket.ts';

interface LogLine {
  readonly level: number;
  readonly msg?: string;
  readonly requestId?: string;
  readonly err?: { readonly code?: string };
}

describe('the HTTP server', () => {
  let world: HttpWorld;
  let port: number;
  let ready = true;
  let isClockKnown = true;
  before(async () => {
    const beforeRequest = async () => assert.ok(isClockKnown, 'the database does not answer');
    world = await startHttpWorld({ ready: async () => ready, beforeRequest });
    port = Number(new URL(await world.app.listen({ host: '127.0.0.1', port: 0 })).port);
  });
  after(() => world.close());

  const get = async (url: string, headers: Record<string, string> = {}) =>
    await world.app.inject({ url, headers });

  it('every response has a new X-Request-Id, and the client’s is ignored', async () => {
    const ids = new Set<string>();
    const urls = [
      '/',
      '/csrf.php',
      '/me.php',
      '/nothing',
      '/nothing.php',
      '/healthz',
      '/topup-status.php',
      '/%zz',
    ];
    for (const url of urls) {
      const answer = await get(url, { 'x-request-id': 'mine' });
      assert.match(String(answer.headers['x-request-id']), /^req_[a-z2-7]{26}$/, url);
      ids.add(String(answer.headers['x-request-id']));
    }
    assert.equal(ids.size, urls.length);
  });

  it('malformed HTTP gets 400 with JSON and a request id', async () => {
    const host = 'Host: x\r\n';
    const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
    const wrong = [
      'hello\r\n\r\n',
      'GET / HTTP/1.1\r\n\r\n',
      `GET / HTTP/1.1\r\n${host}X: ${'a'.repeat(20_000)}\r\n\r\n`,
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
      `FOO / HTTP/1.1\r\n${host}\r\n`,
      `CONNECT example.org:443 HTTP/1.1\r\n${host}\r\n`,
      `POST /auth-api.php HTTP/1.1\r\n${host}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`,
      `POST /auth-api.php HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
      `POST /auth-api.php HTTP/1.1\r\n${host}${form}Content-Length: 100000\r\n\r\n${'a'.repeat(100_000)}`,
      `GET /%ff HTTP/1.1\r\n${host}\r\n`,
    ];
    for (const bytes of wrong) {
      const [head = '', body = ''] = (await exchangeRaw(port, bytes)).split('\r\n\r\n');
      assert.match(head, /^HTTP\/1\.1 400 /, bytes.slice(0, 60));
      assert.match(head, /x-request-id: req_[a-z2-7]{26}/i, bytes.slice(0, 60));
      // Input that reaches no surface gets the REST envelope, unless it was for the session surface.
      const { error } = JSON.parse(body) as { error: string | { code: string } };
      const session = bytes.includes('.php') || error === 'bad_request';
      if (session) assert.equal(error, 'bad_request', bytes.slice(0, 60));
      else assert.equal(typeof error === 'object' && error.code, 'invalid_request', bytes.slice(0, 60));
    }
    const unreadable = world.log.filter((line) => line.includes('unreadable request'));
    // Not under `code`: the log shows nothing under that name.
    assert.ok(unreadable.some((line) => line.includes('"errorCode":"HPE_HEADER_OVERFLOW"')));
  });

  it('an Expect header, an upgrade, and a HEAD request are handled', async () => {
    const lines = ['Expect: the best', 'Connection: Upgrade\r\nUpgrade: websocket'];
    for (const line of lines) {
      assert.match(
        await exchangeRaw(port, `GET /me.php HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`),
        /^HTTP\/1\.1 200 /,
      );
    }
    assert.match(
      await exchangeRaw(port, 'HEAD /me.php HTTP/1.1\r\nHost: x\r\n\r\n'),
      /^HTTP\/1\.1 200 .*\r\n\r\n$/s,
    );
    // A malformed HEAD request also gets no body.
    const long = `x: ${'y'.repeat(20_000)}`;
    assert.match(
      await exchangeRaw(port, `HEAD /v1 HTTP/1.1\r\n${long}\r\n\r\n`),
      /^HTTP\/1\.1 400 .*\r\n\r\n$/s,
    );
  });

  it('an unknown path or method gets 404 in JSON, and a page in a browser', async () => {
    const html = { accept: 'text/html,*/*;q=0.8' };
    for (const url of ['/nothing', '/nothing.php', '/sandbox/nothing']) {
      const answer = await get(url);
      assert.equal(answer.statusCode, 404);
      assert.deepEqual(answer.json(), { ok: false, error: 'not_found', msg: 'Not found.' });
      const browsed = await get(url, html);
      assert.equal(browsed.statusCode, 404);
      const type = url === '/nothing' ? /^text\/html/ : /^application\/json/;
      assert.match(String(browsed.headers['content-type']), type);
    }
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS'] as const) {
      const answer = await world.app.inject({ method, url: '/deploy-api.php' });
      assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found']);
    }
    const post = await world.app.inject({ method: 'POST', url: '/me.php', payload: { a: 1 } });
    assert.equal(post.statusCode, 404);
  });

  it('the health and readiness endpoints report the state', async () => {
    assert.equal((await get('/healthz')).statusCode, 200);
    assert.equal((await get('/readyz')).statusCode, 200);
    ready = false;
    const answer = await get('/readyz');
    assert.deepEqual([answer.statusCode, answer.json().error], [503, 'maintenance']);
    ready = true;
  });

  it('the health and readiness endpoints do not wait for the clock of other processes', async () => {
    isClockKnown = false;
    assert.equal((await get('/')).statusCode, 500);
    for (const url of ['/healthz', '/readyz']) assert.equal((await get(url)).statusCode, 200, url);
    isClockKnown = true;
  });

  it('each request logs one line with the route’s pattern and no personal data', async () => {
    const client = await world.customer();
    world.log.length = 0;
    const answer = await client.get('/topup-status.php?ref=canary-ref', { 'user-agent': 'canary-agent' });
    await client.signIn(client.email, 'canary password');
    await client.get('/servers/900000000004711');
    const lines = world.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      lines.map(({ method, route, status }) => [method, route, status]),
      [
        ['GET', '/topup-status.php', 404],
        ['POST', '/auth-api.php', 400],
        ['GET', '/servers/:no(^[1-9]\\d{0,15}$)', 404],
      ],
    );
    assert.equal(lines[0]?.requestId, answer.headers.get('x-request-id'));
    assert.equal(typeof lines[0]?.durationMs, 'number');
    const text = world.log.join('');
    const secrets = [client.email, client.cookie, client.csrf, 'canary', '127.0.0.1', '900000000004711'];
    for (const secret of secrets) assert.ok(secret && !text.includes(secret), secret);
  });
});

describe('an internal error', () => {
  it('an internal error gets 500 without details, and the log has them under the request id', async () => {
    const world = await startHttpWorld();
    try {
      const client = await world.customer();
      world.log.length = 0;
      await world.db.run('alter table sessions rename column seen_at to seen_then');
      const answer = await client.get('/me.php');
      assert.equal(answer.status, 500);
      assert.deepEqual(Object.keys(answer.body), ['ok', 'error', 'msg']);
      assert.ok(!/seen_at|column|stack|select/.test(answer.text));
      const [fault] = world.log.map((line) => JSON.parse(line) as Record<string, unknown>);
      assert.equal(fault?.requestId, answer.headers.get('x-request-id'));
      assert.match(JSON.stringify(fault), /seen_at/);
    } finally {
      await world.close();
    }
  });

  it('a database outage gets 503 with a time to retry, and not 500', async () => {
    const world = await startHttpWorld();
    const client = await world.customer();
    world.outage.error = Object.assign(new Error('terminating connection'), { code: '57P01' });
    try {
      const answers = [await client.get('/me.php'), await client.post('/deploy-api.php', {})];
      for (const answer of answers) {
        assert.deepEqual([answer.status, answer.body.error], [503, 'maintenance']);
        assert.equal(answer.body.retry_after_s, 5);
        assert.equal(answer.headers.get('retry-after'), null);
      }
      // One line for both requests.
      const lines = world.log.map((line) => JSON.parse(line) as LogLine);
      assert.deepEqual(
        lines
          .filter(({ msg }) => msg === 'database unavailable')
          .map(({ level, err, requestId }) => [level, err?.code, requestId]),
        [[40, '57P01', answers[0]?.headers.get('x-request-id')]],
      );
      assert.equal((await client.get('/healthz')).status, 200);
      assert.equal((await client.get('/csrf.php')).status, 503);
      assert.equal((await world.visitor().get('/csrf.php')).status, 200);
    } finally {
      await world.close();
    }
  });

  it('a full password queue gets 503, and not 500', async () => {
    const world = await startHttpWorld({ passwordQueue: 1 });
    try {
      const clients = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const client = world.visitor();
          await client.fetchCsrf();
          return client;
        }),
      );
      const answers = await Promise.all(clients.map((client) => client.signUp()));
      const refused = answers.filter((answer) => answer.status === 503);
      assert.ok(refused.length > 0 && refused.length < 8);
      assert.ok(refused.every((answer) => answer.body.error === 'maintenance' && answer.body.retry_after_s));
    } finally {
      await world.close();
    }
  });
});
