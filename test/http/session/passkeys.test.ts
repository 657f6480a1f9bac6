import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findRelyingParty } from '../../../src/domain/customers/passkeys/challenge.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { Authenticator, type Lies } from '../../support/authenticator.ts';
import { queuedMails } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient, type SessionResponse } from '../../support/session-client.ts';
import { totpAt, wrongTotp } from '../../support/totp.ts';
import { postAccountAction } from '../account-links.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const ORIGIN = 'https://panel.test';
const AUTH = '/auth-api.php';
const ACCOUNT = '/account-api.php';

let world: HttpWorld;
before(async () => {
  world = await startHttpWorld();
  Object.assign(world.service.settings, { baseUrl: ORIGIN });
});
after(() => world.close());

const errorOf = ({ status, body }: SessionResponse) => [status, body.error];
const OK = [200, undefined];

async function beginAdding(client: SessionClient): Promise<unknown> {
  return (await postAccountAction(client, { action: 'begin_passkey' })).body.options;
}

async function add(client: SessionClient, key: Authenticator, lies: Lies = {}): Promise<SessionResponse> {
  const passkey = key.create(await beginAdding(client), lies);
  return await client.post(ACCOUNT, { action: 'add_passkey', name: 'laptop', passkey });
}

/** Returns a customer with a passkey. */
async function holder(): Promise<{ client: SessionClient; key: Authenticator; id: string }> {
  const [client, key] = [await world.customer(), new Authenticator(ORIGIN)];
  const { body } = await add(client, key);
  assert.equal(body.ok, true);
  return { client, key, id: (body.passkey as { id: string }).id };
}

const options = async (client: SessionClient, fields: Record<string, string> = {}) =>
  (await client.post(AUTH, { action: 'begin_passkey_signin', ...fields })).body.options;

const finish = (client: SessionClient, passkey: string) =>
  client.post(AUTH, { action: 'passkey_signin', passkey });

async function signIn(
  key: Authenticator,
  lies: Lies = {},
  client = world.visitor(),
): Promise<SessionResponse> {
  return await finish(client, key.get(await options(client), lies));
}

describe('passkeys over the form endpoints', () => {
  it('a passkey is added after the password, listed, renamed, and removed', async () => {
    const client = await world.customer();
    const key = new Authenticator(ORIGIN);
    const wrong = await client.post(ACCOUNT, { action: 'begin_passkey', current_password: 'not it' });
    assert.deepEqual(errorOf(wrong), [200, 'bad_credentials']);
    const added = await add(client, key);
    const passkey = added.body.passkey as { id: string; name: string; last_used_at: null };
    assert.match(passkey.id, /^pkey_[a-z2-7]{26}$/);
    const renamed = await client.post(ACCOUNT, { action: 'rename_passkey', id: passkey.id, name: 'phone' });
    assert.deepEqual(errorOf(renamed), OK);
    await signIn(key);
    const [listed] = (await client.post(ACCOUNT, { action: 'list_passkeys' })).body.passkeys as [
      typeof passkey,
    ];
    assert.deepEqual([listed.name, typeof listed.last_used_at], ['phone', 'string']);
    const remove = { action: 'remove_passkey', id: passkey.id };
    assert.deepEqual(errorOf(await client.post(ACCOUNT, remove)), [200, 'bad_credentials']);
    assert.deepEqual(errorOf(await postAccountAction(client, remove)), OK);
    assert.deepEqual(errorOf(await signIn(key)), [400, 'bad_passkey']);
    const lines = await world.auditLines(client);
    for (const line of ['add_passkey ok', 'rename_passkey ok', 'remove_passkey error', 'remove_passkey ok'])
      assert.ok(lines.includes(`customer.${line}`), line);
    const mails = await queuedMails(world.service, 'passkey_changed', client.email);
    assert.deepEqual(
      mails.map(({ data }) => [data.name, data.added]),
      [
        ['laptop', true],
        ['phone', false],
      ],
    );
  });

  it('a passkey signs in without a password and without a code', async () => {
    const { client, key } = await holder();
    const { secret } = (await postAccountAction(client, { action: 'enable_totp' })).body;
    await postAccountAction(client, { action: 'enable_totp', code: totpAt(String(secret)) });
    const visitor = world.visitor();
    const answer = await signIn(key, {}, visitor);
    assert.deepEqual([answer.status, answer.body], [200, { ok: true, redirect: '/account' }]);
    assert.equal((await visitor.get('/me.php')).body.email, client.email);
    assert.ok((await world.auditLines(client)).includes('customer.sign_in ok'));
  });

  const CHEATS: Record<string, Lies> = {
    'of another origin': { origin: 'https://panel.test.evil.example' },
    'of another site': { rpId: 'evil.example' },
    'with a challenge that we did not create': { challenge: Buffer.alloc(54, 7).toString('base64url') },
    'of another type': { type: 'webauthn.create' },
    'without a PIN or a finger': { userVerified: false },
    'that names another account': { userHandle: Buffer.alloc(16, 1).toString('base64url') },
  };
  for (const [which, lies] of Object.entries(CHEATS)) {
    it(`an answer ${which} does not sign in`, async () => {
      const { key } = await holder();
      assert.deepEqual(errorOf(await signIn(key, lies)), [400, 'bad_passkey']);
      assert.deepEqual(errorOf(await signIn(key)), OK);
    });
  }

  it('an answer works once, for the visitor who asked, and for five minutes', async () => {
    const { key } = await holder();
    const visitor = world.visitor();
    // A passkey that is synced between devices has no counter that would reveal a replay.
    const answer = key.get(await options(visitor), { counter: 0 });
    assert.deepEqual(errorOf(await finish(world.visitor(), answer)), [400, 'bad_passkey'], 'another visitor');
    const both = await Promise.all([finish(visitor, answer), finish(visitor, answer)]);
    const statuses = both.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 400]);
    assert.deepEqual(errorOf(await finish(visitor, answer)), [400, 'bad_passkey'], 'replayed');
    const late = key.get(await options(visitor));
    world.clock.offsetMs += LIMITS.passkeyChallengeMinutes * 60_000;
    assert.deepEqual(errorOf(await finish(visitor, late)), [400, 'bad_passkey'], 'late');
  });

  it('an answer is refused when its counter goes back or stands still', async () => {
    const { key } = await holder();
    assert.deepEqual(errorOf(await signIn(key, { counter: 50 })), OK);
    for (const counter of [50, 49, 0])
      assert.deepEqual(errorOf(await signIn(key, { counter })), [400, 'bad_passkey'], `${counter}`);
    assert.deepEqual(errorOf(await signIn(key, { counter: 51 })), OK);
  });

  it('an answer to add a passkey works once, from our origin, in its own session', async () => {
    const [client, other] = [await world.customer(), await world.customer()];
    assert.deepEqual(
      errorOf(await add(client, new Authenticator(ORIGIN), { origin: 'https://evil.example' })),
      [200, 'bad_passkey'],
    );
    const key = new Authenticator(ORIGIN);
    const finishAdding = (who: SessionClient, passkey: string) =>
      who.post(ACCOUNT, { action: 'add_passkey', name: 'key', passkey });
    const passkey = key.create(await beginAdding(client));
    assert.deepEqual(errorOf(await finishAdding(other, passkey)), [200, 'bad_passkey']);
    assert.deepEqual(errorOf(await finishAdding(client, passkey)), OK);
    assert.deepEqual(errorOf(await finishAdding(client, passkey)), [200, 'bad_passkey']);
    // The same credential in another account.
    assert.deepEqual(errorOf(await add(other, key)), [200, 'bad_passkey']);
  });

  it('a passkey takes the place of the code after the password, and only for its own account', async () => {
    const [{ client, key }, other] = [await holder(), await holder()];
    const { secret } = (await postAccountAction(client, { action: 'enable_totp' })).body;
    await postAccountAction(client, { action: 'enable_totp', code: totpAt(String(secret)) });
    const visitor = world.visitor();
    const typed = { email: client.email, password: PASSWORD };
    const bad = await visitor.post(AUTH, { action: 'begin_passkey_signin', ...typed, password: 'not it' });
    assert.deepEqual(errorOf(bad), [400, 'bad_credentials']);
    const asked = (await options(visitor, typed)) as { allowCredentials: { id: string }[] };
    assert.deepEqual(
      asked.allowCredentials.map(({ id }) => id),
      [key.id],
    );
    const post = (passkey: string) => visitor.post(AUTH, { action: 'signin', ...typed, passkey });
    assert.deepEqual(errorOf(await post('')), [400, 'code_required']);
    assert.deepEqual(errorOf(await post(other.key.get(asked))), [400, 'bad_passkey']);
    // For a sign-in without a password, this answer is not enough.
    assert.deepEqual(errorOf(await finish(visitor, key.get(asked))), [400, 'bad_passkey']);
    assert.deepEqual(errorOf(await post(key.get(asked, { userVerified: false }))), OK);
  });

  it('a passkey takes the place of the password before tokens, a change of email, and deletion', async () => {
    const [{ client, key }, other] = [await holder(), await holder()];
    const check = async (who: Authenticator) =>
      who.get((await client.post(ACCOUNT, { action: 'begin_passkey_check' })).body.options);
    const token = { action: 'create_token', name: 'ci', scope: 'read' };
    const create = async (passkey: string) => await client.post(ACCOUNT, { ...token, passkey });
    assert.deepEqual(errorOf(await create(await check(other.key))), [200, 'bad_passkey']);
    const answer = await check(key);
    assert.match(String((await create(answer)).body.token), /^skerry_live_/);
    assert.deepEqual(errorOf(await create(answer)), [200, 'bad_passkey'], 'replayed');
    const email = { action: 'change_email', email: `new-${client.email}`, passkey: await check(key) };
    assert.deepEqual(errorOf(await client.post(ACCOUNT, email)), OK);
    const deletion = { action: 'delete_account', passkey: await check(key) };
    assert.equal((await client.post(ACCOUNT, deletion)).body.completed, true);
    const left = await world.db.row('select count(*)::int as n from passkeys where credential_id = $1', [
      Buffer.from(key.id, 'base64url'),
    ]);
    assert.deepEqual(left, { n: 0 });
  });

  it('an account with one-time codes asks for one before it adds a passkey', async () => {
    const { client, key } = await holder();
    const { secret } = (await postAccountAction(client, { action: 'enable_totp' })).body;
    await postAccountAction(client, { action: 'enable_totp', code: totpAt(String(secret)) });
    await world.db.run('update totp_secrets set last_step = 0');
    const begin = { action: 'begin_passkey' };
    assert.deepEqual(errorOf(await postAccountAction(client, begin)), [400, 'code_required']);
    const bad = await postAccountAction(client, { ...begin, code: wrongTotp(String(secret)) });
    assert.deepEqual(errorOf(bad), [200, 'bad_code']);
    const good = await postAccountAction(client, { ...begin, code: totpAt(String(secret)) });
    assert.deepEqual(errorOf(good), OK);
    const { options: asked } = (await client.post(ACCOUNT, { action: 'begin_passkey_check' })).body;
    assert.deepEqual(errorOf(await client.post(ACCOUNT, { ...begin, passkey: key.get(asked) })), OK);
  });

  it('recovering an account removes its passkeys', async () => {
    const { client, key } = await holder();
    const fields = {
      email: client.email,
      password: 'another password',
      password_confirm: 'another password',
    };
    const recovery = { action: 'recover', recovery_code: client.recoveryCode ?? '', ...fields };
    assert.deepEqual(errorOf(await world.visitor().post(AUTH, recovery)), OK);
    assert.deepEqual(errorOf(await signIn(key)), [400, 'bad_passkey']);
    const [mail] = await queuedMails(world.service, 'access_revoked', client.email);
    assert.equal(mail?.data.passkeys, 1);
  });

  it('a passkey of another customer cannot be renamed or removed', async () => {
    const [{ id }, other] = [await holder(), await world.customer()];
    const renamed = await other.post(ACCOUNT, { action: 'rename_passkey', id, name: 'mine' });
    assert.deepEqual(errorOf(renamed), [404, 'not_found']);
    const removed = await postAccountAction(other, { action: 'remove_passkey', id });
    assert.deepEqual(errorOf(removed), [404, 'not_found']);
  });

  it('an account has a limited number of passkeys', async () => {
    const { client } = await holder();
    await world.db.run(
      `insert into passkeys
         (id, customer_id, credential_id, public_key, counter, transports, name, created_at)
       select gen_random_uuid(), $1, sha256(n::text::bytea), '', 0, '{}', 'x', now()
         from generate_series(2, $2::int) n`,
      [await world.customerId(client), LIMITS.passkeysMax],
    );
    const refused = await postAccountAction(client, { action: 'begin_passkey' });
    assert.deepEqual([...errorOf(refused), refused.body.limit], [200, 'limit_reached', LIMITS.passkeysMax]);
  });

  it('text that is no answer is refused', async () => {
    const { key } = await holder();
    const whole = JSON.parse(key.get(await options(world.visitor()))) as Record<string, object>;
    const broken = [
      ...['', '{}', 'null', '[]', 'x', '{"id":1}', `{"id":"${'a'.repeat(2_000)}","response":{}}`],
      JSON.stringify({ ...whole, response: {} }),
      JSON.stringify({ ...whole, response: { ...whole.response, clientDataJSON: '!' } }),
      JSON.stringify({ ...whole, response: { ...whole.response, signature: 'AAAA' } }),
      JSON.stringify({ ...whole, type: 'password' }),
    ];
    for (const text of broken)
      assert.deepEqual(errorOf(await finish(world.visitor(), text)), [400, 'bad_passkey'], text);
  });

  it('passkeys are offered with https or on localhost, and never at an IP address', async () => {
    const partyAt = (baseUrl: string) =>
      findRelyingParty({ settings: { ...world.service.settings, baseUrl, siteName: 'Skerry' } })?.id ?? null;
    assert.equal(partyAt('https://panel.test:8443'), 'panel.test');
    assert.equal(partyAt('http://localhost:8080'), 'localhost');
    for (const url of [
      'http://panel.test',
      'http://127.0.0.1:8080',
      'https://192.0.2.1',
      'https://[2001:db8::1]',
    ])
      assert.equal(partyAt(url), null, url);
    const { settings } = world.service;
    const baseUrl = settings.baseUrl;
    Object.assign(settings, { baseUrl: 'http://127.0.0.1:8080' });
    const refused = await world.visitor().post(AUTH, { action: 'begin_passkey_signin' });
    Object.assign(settings, { baseUrl });
    assert.deepEqual(errorOf(refused), [200, 'unavailable']);
  });
});
