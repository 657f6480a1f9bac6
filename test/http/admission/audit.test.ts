import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { POST_ENDPOINTS } from '../../../src/http/session/endpoints.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { PASSWORD } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

/** Actions that change nothing of the caller. Signed-in customers never send `request_reset`. */
const UNAUDITED = [
  ...['list_tokens', 'get_account', 'get', 'list_sessions', 'list_passkeys', 'request_reset'],
  ...['begin_passkey_signin', 'begin_passkey_check'],
];

const TOPUP = { action: 'create', amount: 50, coin: 'LTC' };

describe('the audit log', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  it('the audit log has one row for every change that a signed-in customer requested', async () => {
    const client = await world.customer();
    const account = (fields: Record<string, string>) => client.post('/account-api.php', fields);
    const token = { action: 'create_token', name: 'ci', scope: 'read', current_password: PASSWORD };
    const made = await account(token);
    await account({ ...token, scope: 'none' });
    await account({ action: 'list_tokens' });
    await account({ action: 'revoke_token', id: String(made.body.id) });
    await account({ action: 'revoke_token', id: 'tok_nothing' });
    await account({ action: 'change_password', current_password: 'wrong', new_password: 'x'.repeat(12) });
    await account({ action: 'change_password', current_password: PASSWORD, new_password: PASSWORD });
    await client.post('/topup-api.php', TOPUP);
    await client.post('/topup-api.php', { ...TOPUP, amount: 1 });
    await client.post('/deploy-api.php', {});
    await client.post('/deploy-api.php', {}, { token: 'wrong' });
    await client.postRaw('/deploy-api.php', 'a=1&a=2');
    await account({ action: 'unheard of' });
    await client.get('/me.php');
    await client.signIn(client.email, 'wrong');
    await client.signOut();
    assert.deepEqual(await world.auditLines(client), [
      'customer.sign_up ok',
      'token.create ok',
      'token.create error',
      'token.revoke ok',
      'token.revoke error',
      'customer.change_password error',
      'customer.change_password ok',
      'topup.create ok',
      'topup.create error',
      'server.create error',
      'server.create denied',
      'server.create error',
      'customer.sign_in error',
      'customer.sign_out ok',
    ]);
  });

  it('an audit row names the session, the request, and the created resource', async () => {
    const client = await world.customer();
    const made = await client.post('/account-api.php', {
      action: 'create_token',
      name: 'ci',
      scope: 'read',
      current_password: PASSWORD,
    });
    const rows = await world.db.rows<Record<string, string>>(
      `select action, resource, actor_session, actor_token, request_id, ip_country from audit_events
        where customer_id = $1 order by created_at, ctid`,
      [await world.customerId(client)],
    );
    const [signUp, token] = rows;
    assert.equal(token?.request_id, made.headers.get('x-request-id'));
    assert.equal(token?.resource, made.body.id);
    assert.equal(token?.actor_token, null);
    assert.equal(token?.ip_country, 'XX');
    assert.equal(token?.actor_session, signUp?.actor_session);
    assert.equal(signUp?.resource, formatId('session', signUp?.actor_session ?? ''));
    assert.ok(!client.cookie?.includes(String(signUp?.resource).slice('sess_'.length)));
  });

  it('every session operation has one audit row, even when it is rejected', async () => {
    for (const { path, operations } of POST_ENDPOINTS) {
      const named = 'run' in operations ? [['', operations] as const] : [...operations];
      for (const [action, operation] of named) {
        const client = await world.customer();
        await client.post(path, { action }, { token: 'wrong' });
        const rows = (await world.auditLines(client)).slice(1);
        assert.equal(operation.audit === null, UNAUDITED.includes(action), `${path} ${action}`);
        assert.deepEqual(rows, operation.audit === null ? [] : [`${operation.audit} denied`], action);
      }
    }
  });

  it('the audit log includes the pages behind links that reject a signed-in customer', async () => {
    const client = await world.customer();
    await client.post('/reset', {
      _form: 'reset',
      token: 'x',
      password: PASSWORD,
      password_confirm: PASSWORD,
    });
    await client.post('/confirm', { _form: 'confirm', token: 'x' }, { token: 'wrong' });
    assert.deepEqual((await world.auditLines(client)).slice(1), [
      'customer.reset_password error',
      'customer.confirm_address denied',
    ]);
  });

  it('the audit log says denied for a frozen customer', async () => {
    const client = await world.customer();
    await world.db.run('update customers set frozen_at = now() where email = $1', [client.email]);
    await client.post('/topup-api.php', TOPUP);
    await client.post('/topup-api.php', { action: 'cancel', order_ref: 'x' });
    assert.deepEqual((await world.auditLines(client)).slice(1), [
      'topup.create denied',
      'topup.cancel denied',
    ]);
  });

  it('the audit log has no rows for visitors who are not signed in', async () => {
    const count = async () => (await world.db.rows('select 1 as one from audit_events')).length;
    const known = await world.customer();
    const before = await count();
    const stranger = world.visitor();
    await stranger.signIn(known.email, 'wrong');
    await stranger.post('/topup-api.php', TOPUP);
    await stranger.post('/deploy-api.php', {}, { token: 'wrong' });
    await stranger.signUp({ email: 'nobody' });
    await stranger.signOut();
    assert.equal(await count(), before);
  });
});
