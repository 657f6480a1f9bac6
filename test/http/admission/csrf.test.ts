import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HOUR_MS } from '../../../src/kernel/time.ts';
import { SessionClient } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const PROTECTED = ['/topup-api.php', '/deploy-api.php', '/account-api.php'];

describe('the CSRF token', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  it('the CSRF token has 64 hex characters and comes with the session cookie', async () => {
    const answer = await world.visitor().get('/csrf.php');
    assert.equal(answer.status, 200);
    assert.match(String(answer.body.csrf), /^[0-9a-f]{64}$/);
    const [cookie] = answer.headers.getSetCookie();
    assert.match(cookie ?? '', /^PHPSESSID=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  it('the CSRF token stays the same through sign-up, sign-out, and sign-in', async () => {
    const client = world.visitor();
    const value = await client.fetchCsrf();
    const same = async () => assert.equal(await client.fetchCsrf(), value);
    await same();
    await client.signUp();
    await same();
    await client.signOut();
    await same();
    await client.signIn();
    await same();
    assert.equal((await client.get('/me.php')).body.logged_in, true);
  });

  it('the CSRF token is accepted in the field _token and in the header X-CSRF-Token', async () => {
    const client = await world.customer();
    const list = { action: 'list_tokens' };
    const headers = { 'x-csrf-token': client.csrf ?? '' };
    assert.equal((await client.post('/account-api.php', list)).status, 200);
    assert.equal((await client.post('/account-api.php', list, { token: null, headers })).status, 200);
  });

  it('a wrong or missing CSRF token gets 403 and nothing changes', async () => {
    const client = await world.customer();
    for (const token of [null, '', 'x', 'a'.repeat(64), `${client.csrf}0`]) {
      const answer = await client.post('/auth-api.php', { action: 'signout' }, { token });
      assert.equal(answer.status, 403);
      assert.equal(answer.body.ok, false);
      assert.equal(answer.body.error, 'invalid_csrf');
    }
    assert.equal((await client.get('/me.php')).body.logged_in, true);
  });

  it('the CSRF token of another visitor gets 403', async () => {
    const [client, other] = [await world.customer(), world.visitor()];
    const answer = await client.post(
      '/account-api.php',
      { action: 'list_tokens' },
      { token: await other.fetchCsrf() },
    );
    assert.equal(answer.body.error, 'invalid_csrf');
  });

  for (const path of PROTECTED) {
    it(`a signed-out request to ${path} gets 403 for a wrong CSRF token, else 401`, async () => {
      const client = world.visitor();
      const ask = async (token?: string | null) => {
        const { status, body } = await client.post(path, {}, token === undefined ? {} : { token });
        return [status, body.error];
      };
      assert.deepEqual(await ask(null), [401, 'auth_required']);
      await client.fetchCsrf();
      assert.deepEqual(await ask(null), [401, 'auth_required']);
      assert.deepEqual(await ask(), [401, 'auth_required']);
      assert.deepEqual(await ask('f'.repeat(64)), [403, 'invalid_csrf']);
      const bare = await world.app.inject({ method: 'POST', url: path });
      assert.equal(bare.statusCode, 401);
      const json = { 'content-type': 'application/json' };
      assert.equal((await client.postRaw(path, '{"a":1}', json)).status, 401);
    });
  }

  it('the CSRF token outlives the session, so its owner gets 401 and not 403', async () => {
    const client = await world.customer();
    world.clock.offsetMs += 25 * HOUR_MS;
    assert.equal((await client.post('/account-api.php', { action: 'list_tokens' })).status, 401);
    assert.equal((await client.signIn()).body.ok, true);
    assert.equal((await client.post('/account-api.php', { action: 'list_tokens' })).status, 200);
  });

  it('a CSRF token with a foreign cookie gets 403, and such a cookie is never adopted', async () => {
    for (const cookie of ['abc', '../../etc', 'k1.a.b', '%00']) {
      const client = world.visitor();
      client.cookie = cookie;
      const answer = await client.post('/auth-api.php', { action: 'signout' }, { token: 'a'.repeat(64) });
      assert.equal(answer.status, 403);
      await client.fetchCsrf();
      assert.notEqual(client.cookie, cookie);
      assert.equal((await client.signUp()).status, 200);
    }
  });
});

describe('the Sec-Fetch-Site header', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const send = async (headers: Record<string, string>) => {
    const client = await world.customer();
    return (await client.post('/account-api.php', { action: 'list_tokens' }, { headers })).status;
  };
  const OWN = 'http://localhost';
  const host = 'localhost';

  it('a form passes only if the browser says that it is our own', async () => {
    for (const site of ['same-origin', 'none'])
      assert.equal(await send({ 'sec-fetch-site': site }), 200, site);
    for (const site of ['cross-site', 'same-site', '', 'rubbish']) {
      assert.equal(await send({ 'sec-fetch-site': site }), 403, site);
      assert.equal(await send({ 'sec-fetch-site': site, origin: OWN, host }), 403, site);
    }
    assert.equal(await send({ 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' }), 403);
    assert.equal(await send({ 'sec-fetch-site': 'same-origin', origin: OWN, host }), 200);
  });

  it('Origin: null passes only without Sec-Fetch-Site', async () => {
    assert.equal(await send({ origin: 'null' }), 200);
    assert.equal(await send({ origin: 'null', 'sec-fetch-site': 'same-origin' }), 403);
  });

  it('a page opened from another site, and a call of the API, are not judged', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'null' };
    assert.equal((await world.visitor().get('/csrf.php', headers)).status, 200);
    const answer = await world.app.inject({ method: 'POST', url: '/v1/servers', headers });
    assert.equal(answer.statusCode, 401);
  });
});

describe('Strict-Transport-Security', () => {
  it('responses require https from then on exactly if the service is served over it', async () => {
    for (const [baseUrl, sent] of [
      ['https://skerry.example', 'max-age=31536000'],
      ['http://skerry.example'],
      [null],
    ]) {
      const world = await startHttpWorld({ settings: { baseUrl: baseUrl ?? null } });
      for (const url of ['/', '/v1/nothing', '/nothing']) {
        const { headers } = await world.app.inject({ url });
        assert.equal(headers['strict-transport-security'], sent, `${baseUrl} ${url}`);
      }
      await world.close();
    }
  });
});

describe('the Origin header', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({ settings: { baseUrl: 'https://skerry.example' } });
  });
  after(() => world.close());

  const send = async (origin: string, host = 'inner:8080') => {
    const client = await world.customer();
    const options = { headers: { origin, host } };
    return await client.post('/account-api.php', { action: 'list_tokens' }, options);
  };

  it('a request with the Origin of another site gets 403 with any CSRF token', async () => {
    const others = ['https://evil.example', 'https://skerry.example.evil.example', 'http://inner', 'rubbish'];
    for (const origin of [...others, 'https://skerry.example:444', 'file://', 'https://']) {
      const answer = await send(origin);
      assert.equal(answer.status, 403, origin);
      assert.equal(answer.body.error, 'invalid_csrf');
    }
  });

  it('a request with our own Origin passes, by the Host header or by the base URL', async () => {
    for (const origin of ['https://skerry.example', 'https://SKERRY.example:443', 'http://inner:8080']) {
      assert.equal((await send(origin)).status, 200, origin);
    }
    assert.equal((await send('http://inner', 'inner:80')).status, 200);
  });

  it('a request with the Origin null passes with a correct CSRF token', async () => {
    assert.equal((await send('null')).status, 200);
  });

  it('a request behind HTTPS sets a Secure cookie', async () => {
    const answer = await world.visitor().get('/csrf.php');
    assert.match(answer.headers.getSetCookie()[0] ?? '', /; Secure/);
  });
});

describe('a plain client over the network', () => {
  it('a plain client that keeps its token and follows Set-Cookie stays signed in', async () => {
    const world = await startHttpWorld();
    try {
      const client = SessionClient.forUrl(await world.app.listen({ host: '127.0.0.1', port: 0 }));
      assert.equal((await client.signUp()).body.ok, true);
      for (let round = 0; round < 3; round++) {
        assert.equal((await client.signOut()).body.ok, true);
        assert.equal((await client.get('/me.php')).body.logged_in, false);
        assert.equal((await client.signIn()).body.ok, true);
        assert.equal((await client.get('/me.php')).body.logged_in, true);
      }
    } finally {
      await world.close();
    }
  });
});
