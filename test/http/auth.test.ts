import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PASSWORD } from '../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from './http-world.ts';

describe('/auth-api.php', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const OTHER = 'an altogether new one';

  it('signs up and in at once, and shows a recovery code', async () => {
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

  it('says who is signed in, and that nobody is', async () => {
    const nobody = { ok: true, logged_in: false, email: null, balance: null, id: null };
    assert.deepEqual((await world.visitor().get('/me.php')).body, nobody);
    const client = await world.customer();
    await world.creditBalance(client, 1234n);
    assert.equal((await client.get('/me.php')).body.balance, 12.34);
    await client.signOut();
    assert.deepEqual((await client.get('/me.php')).body, nobody);
  });

  it('refuses a sign-up with 400 and the code of its first fault', async () => {
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

  it('has several words for one action', async () => {
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

  it('refuses an unknown action with 400 bad_action', async () => {
    for (const action of ['', 'drop', 'SIGNIN', '__proto__', 'constructor', 'toString']) {
      const answer = await world.visitor().post('/auth-api.php', { action });
      assert.deepEqual([answer.status, answer.body.error], [400, 'bad_action']);
    }
  });

  it('answers a wrong password and an unknown address alike, byte for byte', async () => {
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

  it('renews the cookie at sign-in and at sign-out, and the old one is worth nothing', async () => {
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

  it('leaves no cookie value in the database', async () => {
    const client = await world.customer();
    const [, seed = '', , secret = ''] = client.cookie?.split('.') ?? [];
    const [dump] = await world.db.rows<{ text: string }>(
      `select coalesce(string_agg(s::text, ' '), '') || (select string_agg(a::text, ' ') from audit_events a) as text
         from sessions s`,
    );
    for (const part of [seed, secret]) assert.ok(part.length === 43 && !dump?.text.includes(part));
  });

  it('signs out whoever is signed out already', async () => {
    const answer = await world.visitor().signOut();
    assert.deepEqual([answer.status, answer.body], [200, { ok: true, redirect: '/' }]);
  });

  it('recovers with the code: new password, new code, all other sessions ended, signed in', async () => {
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

  it('answers a wrong recovery code and an unknown address alike', async () => {
    const client = await world.customer();
    const fields = { action: 'recover', recovery_code: 'wrong', password: OTHER, password_confirm: OTHER };
    const wrong = await client.post('/auth-api.php', { ...fields, email: client.email });
    const unknown = await client.post('/auth-api.php', { ...fields, email: 'nobody@example.org' });
    assert.deepEqual([wrong.status, wrong.body.error], [400, 'bad_credentials']);
    assert.equal(unknown.text, wrong.text);
    const weak = await client.post('/auth-api.php', { ...fields, password: 'short', email: client.email });
    assert.deepEqual([weak.status, weak.body.error], [400, 'weak_password']);
  });

  it('lets a frozen customer in and out', async () => {
    const client = await world.customer();
    await world.db.run('update customers set frozen_at = now() where email = $1', [client.email]);
    assert.equal((await client.signOut()).status, 200);
    assert.equal((await client.signIn()).status, 200);
    assert.equal((await client.get('/me.php')).body.logged_in, true);
  });
});
