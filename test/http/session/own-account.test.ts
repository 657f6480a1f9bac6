import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { generateKey } from 'openpgp';
import { LIMITS } from '../../../src/spec/limits.ts';
import { queuedMails } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { getAccount, postAccountAction } from '../account-links.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

interface Listed {
  readonly id: string;
  readonly created_at: string;
  readonly last_seen_at: string;
  readonly current: boolean;
}

/** Also counts copied rows, whose sealed data does not open. */
async function countMails({ db }: HttpWorld, { email }: SessionClient, kind: string): Promise<number> {
  const mails = await db.rows(
    'select from mails m join customers c on c.id = m.customer_id where c.email = $1 and m.kind = $2',
    [email, kind],
  );
  return mails.length;
}

describe('the account over /account-api.php', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const list = async (client: SessionClient) =>
    (await postAccountAction(client, { action: 'list_sessions' })).body.sessions as Listed[];

  it('an account shows itself to its owner', async () => {
    const client = await world.customer();
    const { body } = await postAccountAction(client, { action: 'get_account' });
    assert.match(String(body.created_at), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    assert.deepEqual(body, {
      ok: true,
      id: (await client.get('/me.php')).body.id,
      email: client.email,
      email_confirmed: false,
      pending_email: null,
      openpgp_fingerprint: null,
      totp: false,
      balance: 0,
      created_at: body.created_at,
    });
    assert.equal((await world.visitor().post('/account-api.php', { action: 'get_account' })).status, 401);
  });

  it('an account lists and ends its own sessions, and never those of another customer', async () => {
    const client = await world.customer();
    const other = world.visitor();
    await other.signIn(client.email);
    const sessions = await list(client);
    assert.deepEqual(
      sessions.map(({ current }) => current),
      [false, true],
    );
    for (const { id, created_at, last_seen_at } of sessions) {
      assert.match(id, /^sess_[a-z2-7]{26}$/);
      assert.match(`${created_at},${last_seen_at}`, /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,?){2}$/);
    }
    const stranger = await world.customer();
    for (const id of [sessions[0]?.id ?? '', 'sess_nothing', '']) {
      const refused = await postAccountAction(stranger, { action: 'end_session', id });
      assert.deepEqual([refused.status, refused.body.error], [404, 'not_found']);
    }
    assert.deepEqual(
      (await postAccountAction(client, { action: 'end_session', id: sessions[0]?.id ?? '' })).body,
      {
        ok: true,
      },
    );
    assert.equal((await other.get('/me.php')).body.logged_in, false);
    assert.equal((await list(client)).length, 1);
    assert.deepEqual(
      (await postAccountAction(client, { action: 'end_session', id: sessions[1]?.id ?? '' })).body,
      {
        ok: true,
      },
    );
    assert.equal((await client.get('/me.php')).body.logged_in, false);
    assert.equal(
      (await world.auditLines(client)).filter((line) => line === 'customer.end_session ok').length,
      2,
    );
  });

  it('a sign-in sends a limited number of mails, and a sign-up sends none', async () => {
    const client = await world.customer();
    assert.equal((await queuedMails(world.service, 'new_sign_in', client.email)).length, 0);
    await client.signIn();
    const mails = await queuedMails(world.service, 'new_sign_in', client.email);
    assert.deepEqual(
      mails.map(({ data }) => data.country),
      ['XX'],
    );
    await world.db.run(
      `insert into mails (id, customer_id, kind, cause, data_sealed, due_at, created_at)
       select gen_random_uuid(), customer_id, kind, cause || n, data_sealed, due_at, created_at
         from mails, generate_series(2, $1::int) n where kind = 'new_sign_in'`,
      [LIMITS.signInMailsPerHour],
    );
    await client.signIn();
    assert.equal(await countMails(world, client, 'new_sign_in'), LIMITS.signInMailsPerHour);
  });

  it('an account accepts an OpenPGP key, shows its fingerprint, and removes it', async () => {
    const client = await world.customer();
    const { publicKey, privateKey } = await generateKey({ userIDs: [{ name: 'me' }] });
    for (const openpgp_key of ['not a key', privateKey, 'x'.repeat(70_000)]) {
      const refused = await postAccountAction(client, { action: 'set_openpgp_key', openpgp_key });
      assert.deepEqual([refused.status, refused.body.error], [200, 'bad_openpgp_key']);
      assert.equal(refused.body.field, 'openpgp_key');
    }
    const wrong = { action: 'set_openpgp_key', openpgp_key: publicKey, current_password: 'not it' };
    assert.equal((await postAccountAction(client, wrong)).body.error, 'bad_credentials');
    const set = (await postAccountAction(client, { action: 'set_openpgp_key', openpgp_key: publicKey })).body;
    assert.match(String(set.openpgp_fingerprint), /^[0-9A-F]{40,64}$/);
    const shown = async () => (await getAccount(client)).openpgp_fingerprint;
    assert.equal(await shown(), set.openpgp_fingerprint);
    assert.equal(
      (await postAccountAction(client, { action: 'set_openpgp_key', openpgp_key: '' })).body
        .openpgp_fingerprint,
      null,
    );
    assert.equal(await shown(), null);
    // One audit row per actual change.
    await postAccountAction(client, { action: 'set_openpgp_key', openpgp_key: '' });
    const mails = await queuedMails(world.service, 'openpgp_key_changed', client.email);
    assert.deepEqual(
      mails.map(({ to, data }) => [to, data.fingerprint]),
      [
        [client.email, set.openpgp_fingerprint],
        [client.email, null],
      ],
    );
  });

  it('a password change sends a limited number of mails to the current address', async () => {
    const client = await world.customer();
    const change = { action: 'change_password', new_password: PASSWORD };
    assert.equal((await postAccountAction(client, { ...change, current_password: 'not it' })).body.ok, false);
    assert.equal((await postAccountAction(client, change)).body.ok, true);
    const mails = await queuedMails(world.service, 'password_changed', client.email);
    assert.deepEqual(
      mails.map(({ to, data }) => [to, data.country]),
      [[client.email, 'XX']],
    );
    await world.db.run(
      `insert into mails (id, customer_id, kind, cause, data_sealed, to_address, due_at, created_at)
       select gen_random_uuid(), customer_id, kind, cause || n, data_sealed, to_address, due_at, created_at
         from mails, generate_series(2, $1::int) n where kind = 'password_changed'`,
      [LIMITS.accountMailsPerHour],
    );
    assert.equal((await postAccountAction(client, change)).body.ok, true);
    assert.equal(await countMails(world, client, 'password_changed'), LIMITS.accountMailsPerHour);
  });

  it('an account without resources is deleted at once, and its address can sign up again', async () => {
    const client = await world.customer();
    await world.creditBalance(client, 1234n);
    assert.equal(
      (await postAccountAction(client, { action: 'delete_account', current_password: 'no' })).body.error,
      'bad_credentials',
    );
    const answer = await postAccountAction(client, { action: 'delete_account' });
    assert.deepEqual(answer.body, { ok: true, completed: true, forfeited_usd: 12.34 });
    assert.equal((await client.signIn()).body.error, 'bad_credentials');
    assert.equal((await client.signUp()).body.ok, true);
    assert.equal((await client.get('/me.php')).body.balance, 0);
  });
});
