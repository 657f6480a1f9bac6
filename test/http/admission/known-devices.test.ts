/** Which browsers an account knows, and what they share with others. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tasksJob } from '../../../src/workers/tasks.ts';
import { lastMailedPath, tokenFromPath } from '../../support/queued-mails.ts';
import { PASSWORD, type SessionClient, type SessionResponse } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const PER_HOUR = 4;
const NEW = 'a completely new password';
const AUTH = '/auth-api.php';

describe('known devices', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld({
      settings: { signinFailuresPerHour: PER_HOUR, trustedProxies: ['127.0.0.1'] },
    });
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
});
