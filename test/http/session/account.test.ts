import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PASSWORD } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

describe('/account-api.php', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const change = {
    action: 'change_password',
    current_password: PASSWORD,
    new_password: 'the next long password',
  };
  const token = { action: 'create_token', name: 'ci', scope: 'read', current_password: PASSWORD };

  it('changing the password keeps the current session and ends all others', async () => {
    const client = await world.customer();
    const other = world.visitor();
    await other.signIn(client.email);
    const answer = await client.post('/account-api.php', change);
    assert.deepEqual([answer.status, answer.body], [200, { ok: true }]);
    assert.equal((await client.get('/me.php')).body.logged_in, true);
    assert.equal((await other.get('/me.php')).body.logged_in, false);
    assert.deepEqual((await other.post('/account-api.php', change)).status, 401);
    assert.equal((await other.signIn(client.email)).status, 400);
    assert.equal((await other.signIn(client.email, change.new_password)).status, 200);
  });

  it('a wrong current password and a weak new password get HTTP 200', async () => {
    const client = await world.customer();
    const wrong = await client.post('/account-api.php', { ...change, current_password: 'not it' });
    assert.deepEqual([wrong.status, wrong.body.ok, wrong.body.error], [200, false, 'bad_credentials']);
    for (const weak of ['', 'elevenchars', 'x'.repeat(257)]) {
      const answer = await client.post('/account-api.php', { ...change, new_password: weak });
      assert.deepEqual([answer.status, answer.body.error], [200, 'weak_password']);
    }
    assert.equal((await client.signIn()).status, 200);
  });

  it('API tokens are created, listed, and revoked', async () => {
    const client = await world.customer();
    const made = await client.post('/account-api.php', { ...token, expires_at: '2038-01-01T00:00:00Z' });
    assert.equal(made.status, 200);
    assert.deepEqual(Object.keys(made.body), ['ok', 'id', 'token']);
    assert.match(String(made.body.token), /^skerry_live_[a-z2-7]{52}$/);
    const list = await client.post('/account-api.php', { action: 'list_tokens' });
    const [only, ...rest] = list.body.tokens as Record<string, unknown>[];
    assert.deepEqual(rest, []);
    assert.deepEqual(
      { ...only, created_at: '' },
      {
        id: made.body.id,
        object: 'api_token',
        name: 'ci',
        scope: 'read',
        last_used_at: null,
        created_by_token: null,
        limits: null,
        spent_usd: null,
        expires_at: '2038-01-01T00:00:00Z',
        created_at: '',
      },
    );
    const id = String(made.body.id);
    assert.deepEqual((await client.post('/account-api.php', { action: 'revoke_token', id })).body, {
      ok: true,
    });
    const again = await client.post('/account-api.php', { action: 'revoke_token', id });
    assert.deepEqual([again.status, again.body.error], [404, 'not_found']);
    assert.deepEqual((await client.post('/account-api.php', { action: 'list_tokens' })).body.tokens, []);
  });

  it('an invalid token request gets HTTP 200 and the code of its first error', async () => {
    const client = await world.customer();
    for (const [fields, error] of [
      [{ name: '' }, 'bad_name'],
      [{ scope: 'root' }, 'bad_scope'],
      [{ expires_at: 'tomorrow' }, 'bad_expiry'],
      [{ current_password: 'not it' }, 'bad_credentials'],
    ] as const) {
      const answer = await client.post('/account-api.php', { ...token, ...fields });
      assert.deepEqual([answer.status, answer.body.ok, answer.body.error], [200, false, error]);
    }
  });

  it('an invalid expiration is named as invalid, and one in the past as past', async () => {
    const client = await world.customer();
    for (const [expires_at, msg] of [
      ['tomorrow', /^expires_at is not a valid time\. Use an RFC 3339 time, such as /],
      ['2030-01-01T12:00:60Z', /^expires_at is not a valid time\. /],
      ['2020-01-01T00:00:00Z', /^expires_at must be in the future\.$/],
    ] as const) {
      const { body } = await client.post('/account-api.php', { ...token, expires_at });
      assert.equal(body.error, 'bad_expiry');
      assert.match(String(body.msg), msg);
    }
  });

  it('a missing or wrong current password is named, without the email', async () => {
    const client = await world.customer();
    const { current_password: _, ...withoutPassword } = token;
    for (const [fields, msg] of [
      [withoutPassword, 'Enter your current password.'],
      [{ ...token, current_password: 'not it' }, 'The current password is incorrect.'],
    ] as const) {
      const { body } = await client.post('/account-api.php', fields);
      const expected = { ok: false, error: 'bad_credentials', msg, field: 'current_password' };
      assert.deepEqual(body, expected);
    }
  });

  it('a frozen customer can read but not change anything', async () => {
    const client = await world.customer();
    await world.db.run('update customers set frozen_at = now() where email = $1', [client.email]);
    for (const fields of [change, token, { action: 'revoke_token', id: 'tok_x' }]) {
      const answer = await client.post('/account-api.php', fields);
      assert.deepEqual([answer.status, answer.body.error], [200, 'account_frozen']);
    }
    assert.equal((await client.post('/topup-api.php', { action: 'create' })).body.error, 'account_frozen');
    assert.equal((await client.post('/deploy-api.php', {})).body.error, 'account_frozen');
    assert.equal((await client.post('/account-api.php', { action: 'list_tokens' })).body.ok, true);
  });
});
