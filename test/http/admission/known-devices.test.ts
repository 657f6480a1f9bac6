/** Which browsers an account knows, and what they share with others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tasksJob } from '../../../src/workers/tasks.ts';
import { Authenticator } from '../../support/authenticator.ts';
import { lastMailedPath, tokenFromPath } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient, type SessionResponse } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const PER_HOUR = 4;
const NEW = 'a completely new password';
const AUTH = '/auth-api.php';
const ORIGIN = 'https://panel.test';

describe('known devices', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({
      settings: { signinFailuresPerHour: PER_HOUR, trustedProxies: ['127.0.0.1'] },
    });
    Object.assign(world.service.settings, { baseUrl: ORIGIN });
  });
  after(() => world.close());

  let addresses = 0;
  /** Returns an address whose guesses are used up. */
  async function floodedAddress(): Promise<string> {
    const address = `198.51.100.${++addresses}`;
    for (let n = 0; n < PER_HOUR; n++) await signIn('nobody@example.com', 'a wrong guess', address);
    assert.equal((await signIn('nobody@example.com', 'a wrong guess', address)).status, 429);
    return address;
  }

  async function signIn(email: string, password: string, address: string, device?: string) {
    return await post(world.visitor(), AUTH, { action: 'signin', email, password }, { address, device });
  }

  async function post(
    client: SessionClient,
    path: string,
    fields: Record<string, string>,
    from: { address?: string; device?: string | undefined } = {},
  ): Promise<SessionResponse> {
    if (client.csrf === undefined) await client.fetchCsrf();
    const device = from.device === undefined ? '' : `; skerry_device=${from.device}`;
    const cookie = `PHPSESSID=${client.cookie}${device}`;
    return await client.post(path, fields, {
      headers: { cookie, 'x-forwarded-for': from.address ?? `203.0.113.${++addresses}` },
    });
  }

  const cookieOf = ({ headers }: SessionResponse) =>
    /^skerry_device=([^;]+)/m.exec(headers.getSetCookie().join('\n'))?.[1];

  /** Signs in with the panel's form. */
  async function deviceOf(email: string, password = PASSWORD): Promise<string> {
    const answer = await post(world.visitor(), '/signin', { _form: 'sign_in', email, password });
    assert.equal(answer.status, 303, answer.text);
    return cookieOf(answer) ?? assert.fail('no cookie');
  }

  async function resetToken(email: string): Promise<string> {
    await post(world.visitor(), AUTH, { action: 'request_reset', email });
    await tasksJob(world.service).run();
    return tokenFromPath(await lastMailedPath(world.service, 'reset_password', email));
  }

  const typed = { password: NEW, password_confirm: NEW };
  const NEW_PASSWORDS: Readonly<Record<string, (client: SessionClient) => Promise<SessionResponse>>> = {
    'a password change': (client) =>
      post(client, '/account', {
        ...{ _form: 'password', current_password: PASSWORD },
        ...{ new_password: NEW, new_password_confirm: NEW },
      }),
    'a recovery': ({ email, recoveryCode }) =>
      post(world.visitor(), '/recover', { _form: 'recover', email, recovery_code: recoveryCode, ...typed }),
    'a password reset': async ({ email }) =>
      post(world.visitor(), '/reset', { _form: 'reset', token: await resetToken(email), ...typed }),
  };
  for (const [what, setPassword] of Object.entries(NEW_PASSWORDS)) {
    it(`${what} ends the cookies of known devices, but not the one of its own browser`, async () => {
      const client = await world.customer();
      const stolen = await deviceOf(client.email);
      const address = await floodedAddress();
      assert.equal((await signIn(client.email, PASSWORD, address, stolen)).status, 200);
      const own = cookieOf(await setPassword(client));
      assert.equal((await signIn(client.email, NEW, address, stolen)).status, 429);
      assert.equal((await signIn(client.email, NEW, address, own)).status, 200);
    });
  }

  const guess = async (email: string, action: string, from: { device?: string } = {}) =>
    (await post(world.visitor(), AUTH, { action, email, password: 'a wrong guess' }, from)).status;

  it('guesses through a passkey sign-in draw on the budgets of sign-in, not of recovery', async () => {
    const { email, recoveryCode } = await world.customer();
    const device = await deviceOf(email);
    const statuses = [];
    for (let n = 0; n < 10 * PER_HOUR; n++)
      statuses.push(await guess(email, n % 2 === 0 ? 'signin' : 'begin_passkey_signin'));
    assert.deepEqual([...new Set(statuses)], [400]);
    for (const action of ['signin', 'begin_passkey_signin']) assert.equal(await guess(email, action), 429);
    for (let n = 0; n < PER_HOUR; n++)
      assert.equal(await guess(email, 'begin_passkey_signin', { device }), 400);
    assert.equal(await guess(email, 'signin', { device }), 429);
    const recovery = { action: 'recover', email, recovery_code: recoveryCode, ...typed };
    assert.equal((await post(world.visitor(), AUTH, recovery)).status, 200);
  });

  it('guesses of a signed-in customer share one budget over all operations', async () => {
    const client = await world.customer();
    const wrong = { current_password: 'a wrong guess' };
    const tries = [
      { action: 'create_token', name: 'ci', scope: 'read' },
      { action: 'change_password', new_password: NEW },
      { action: 'begin_passkey', code: '' },
    ];
    const statuses = [];
    for (let n = 0; n < PER_HOUR; n++)
      statuses.push((await post(client, '/account-api.php', { ...tries[n % 3], ...wrong })).body.error);
    assert.deepEqual([...new Set(statuses)], ['bad_credentials']);
    for (const fields of tries)
      assert.equal((await post(client, '/account-api.php', { ...fields, ...wrong })).status, 429);
    const again = { action: 'signin', email: client.email, password: PASSWORD };
    assert.equal((await post(client, AUTH, again)).status, 429);
  });

  it('the password before a passkey of a known device is checked in their queue', async (t) => {
    const { email } = await world.customer();
    const device = await deviceOf(email);
    const verify = t.mock.method(world.passwords, 'verify');
    const begin = { action: 'begin_passkey_signin', email, password: PASSWORD };
    assert.equal((await post(world.visitor(), AUTH, begin, { device })).status, 200);
    assert.equal((await post(world.visitor(), AUTH, begin)).status, 200);
    assert.deepEqual(
      verify.mock.calls.map(({ arguments: [, , lane] }) => lane),
      ['known', 'others'],
    );
  });

  /** Signs in with a passkey alone. */
  async function signInByPasskey(
    key: Authenticator,
    from: { address?: string; device?: string | undefined } = {},
  ) {
    const visitor = world.visitor();
    const { body } = await post(visitor, AUTH, { action: 'begin_passkey_signin' }, from);
    return await post(visitor, AUTH, { action: 'passkey_signin', passkey: key.get(body.options) }, from);
  }

  async function addPasskey(client: SessionClient): Promise<Authenticator> {
    const key = new Authenticator(ORIGIN);
    const account = '/account-api.php';
    const { body } = await post(client, account, { action: 'begin_passkey', current_password: PASSWORD });
    const passkey = key.create(body.options);
    const added = await post(client, account, { action: 'add_passkey', name: 'laptop', passkey });
    assert.equal(added.body.ok, true);
    return key;
  }

  it('a flood from a shared address shuts out no known device that signs in with a passkey', async () => {
    const [client, other] = [await world.customer(), await world.customer()];
    const key = await addPasskey(client);
    const device = await deviceOf(client.email);
    const address = await floodedAddress();
    assert.equal((await signInByPasskey(key, { address, device })).body.ok, true);
    assert.equal((await signInByPasskey(key, { address })).status, 429);
    assert.equal((await signInByPasskey(key, { address, device: await deviceOf(other.email) })).status, 429);
  });

  it('a browser that signed in with a passkey is known after its session', async () => {
    const client = await world.customer();
    const device = cookieOf(await signInByPasskey(await addPasskey(client)));
    assert.ok(device);
    const address = await floodedAddress();
    assert.equal((await signIn(client.email, PASSWORD, address)).status, 429);
    assert.equal((await signIn(client.email, PASSWORD, address, device)).status, 200);
  });
});
