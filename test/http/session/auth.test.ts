import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PASSWORD } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('/auth-api.php', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const OTHER = 'a completely new password';

  it('a sign-up also signs in and shows a recovery code', async () => {
    const client = world.visitor();
    const answer = await client.signUp();
    assert.equal(answer.status, 200);
    assert.deepEqual(
      { ...answer.body, recovery_code: '' },
      { ok: true, redirect: '/account', recovery_code: '' },
    );
    assert.match(client.recoveryCode, /^([a-z2-7]{5}-){4}[a-z2-7]{6}$/);
    const me = (await client.get('/me.php')).body;
    assert.deepEqual(me, { ok: true, logged_in: true, email: client.email, balance: 0, id: me.id });
    assert.ok(Number.isSafeInteger(me.id) && Number(me.id) > 0);
  });

  it('the session probe shows the signed-in customer, or that the visitor is not signed in', async () => {
    const signedOut = { ok: true, logged_in: false, email: null, balance: null, id: null };
    assert.deepEqual((await world.visitor().get('/me.php')).body, signedOut);
    const client = await world.customer();
    await world.creditBalance(client, 1234n);
    assert.equal((await client.get('/me.php')).body.balance, 12.34);
    await client.signOut();
    assert.deepEqual((await client.get('/me.php')).body, signedOut);
  });

  it('an invalid sign-up gets 400 and the code of its first error', async () => {
    const taken = (await world.customer()).email;
    const cases: [Record<string, string>, string][] = [
      [{ email: 'nobody', password: 'short' }, 'bad_email'],
      [{ email: '' }, 'bad_email'],
      [{ password: 'elevenchars', password_confirm: 'x' }, 'weak_password'],
      [{ password: 'x'.repeat(257), password_confirm: 'x'.repeat(257) }, 'weak_password'],
      [{ password_confirm: '' }, 'password_mismatch'],
      [{ email: taken.toUpperCase() }, 'email_taken'],
    ];
    for (const [fields, error] of cases) {
      const answer = await world.visitor().signUp(fields);
      assert.deepEqual([answer.status, answer.body.ok, answer.body.error], [400, false, error]);
      assert.equal(typeof answer.body.msg, 'string');
    }
  });

  it('each action has several accepted names', async () => {
    for (const [up, out, into] of [
      ['register', 'logout', 'login'],
      ['sign_up', 'sign_out', 'sign_in'],
    ] as const) {
      const client = world.visitor();
      assert.equal((await client.signUp({ action: up })).status, 200);
      assert.equal((await client.post('/auth-api.php', { action: out })).status, 200);
      const fields = { action: into, email: client.email, password: PASSWORD };
      assert.equal((await client.post('/auth-api.php', fields)).status, 200);
    }
  });

  it('an unknown action gets 400 bad_action', async () => {
    for (const action of ['', 'drop', 'SIGNIN', '__proto__', 'constructor', 'toString']) {
      const answer = await world.visitor().post('/auth-api.php', { action });
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_action']);
    }
  });

  it('a wrong password and an unknown address get identical responses', async () => {
    const client = await world.customer();
    await client.signOut();
    const wrong = await client.signIn(client.email, 'not the password');
    const unknown = await client.signIn('nobody@example.org', 'not the password');
    const nothing = await client.post('/auth-api.php', { action: 'signin' });
    for (const answer of [wrong, unknown, nothing]) {
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_credentials']);
      assert.equal(answer.text, wrong.text);
    }
    assert.equal((await client.signIn(client.email.toUpperCase())).status, 200);
  });

  it('signing in and signing out renew the cookie, and the old cookie is worthless', async () => {
    const client = await world.customer();
    const cookies = [client.cookie];
    await client.signIn();
    cookies.push(client.cookie);
    const spare = world.visitor();
    await client.signOut();
    cookies.push(client.cookie);
    assert.equal(new Set(cookies).size, 3);
    for (const cookie of cookies) {
      spare.cookie = cookie;
      assert.equal((await spare.get('/me.php')).body.logged_in, false);
    }
  });

  it('no cookie value is stored in the database', async () => {
    const client = await world.customer();
    const [, seed = '', , secret = ''] = client.cookie?.split('.') ?? [];
    const [dump] = await world.db.rows<{ text: string }>(
      `select coalesce(string_agg(s::text, ' '), '')
           || (select string_agg(a::text, ' ') from audit_events a) as text
         from sessions s`,
    );
    for (const part of [seed, secret]) assert.ok(part.length === 43 && !dump?.text.includes(part));
  });

  it('signing out succeeds for a visitor who is already signed out', async () => {
    const answer = await world.visitor().signOut();
    assert.deepEqual([answer.status, answer.body], [200, { ok: true, redirect: '/' }]);
  });

  it('a recovery sets a new password and a new code, ends all other sessions, and signs in', async () => {
    const client = await world.customer();
    const lost = world.visitor();
    const fields = { action: 'recover', email: client.email, password: OTHER, password_confirm: OTHER };
    const answer = await lost.post('/auth-api.php', {
      ...fields,
      recovery_code: client.recoveryCode.toUpperCase(),
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.body.redirect, '/account');
    assert.notEqual(answer.body.recovery_code, client.recoveryCode);
    assert.equal((await lost.get('/me.php')).body.email, client.email);
    assert.equal((await client.get('/me.php')).body.logged_in, false);
    assert.equal((await client.signIn()).status, 400);
    assert.equal((await client.signIn(client.email, OTHER)).status, 200);
    const again = await world
      .visitor()
      .post('/auth-api.php', { ...fields, recovery_code: client.recoveryCode });
    assert.deepEqual([again.status, again.body.error], [400, 'bad_credentials']);
  });

  it('a wrong recovery code and an unknown address get the same response', async () => {
    const client = await world.customer();
    const fields = { action: 'recover', recovery_code: 'wrong', password: OTHER, password_confirm: OTHER };
    const wrong = await client.post('/auth-api.php', { ...fields, email: client.email });
    const unknown = await client.post('/auth-api.php', { ...fields, email: 'nobody@example.org' });
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'bad_credentials']);
    assert.equal(unknown.text, wrong.text);
    const weak = await client.post('/auth-api.php', { ...fields, password: 'short', email: client.email });
    assert.deepEqual([weak.status, weak.body.error], [400, 'weak_password']);
  });

  it('a frozen customer can sign in and out', async () => {
    const client = await world.customer();
    await world.db.run('update customers set frozen_at = now() where email = $1', [client.email]);
    assert.equal((await client.signOut()).status, 200);
    assert.equal((await client.signIn()).status, 200);
    assert.equal((await client.get('/me.php')).body.logged_in, true);
  });
});
