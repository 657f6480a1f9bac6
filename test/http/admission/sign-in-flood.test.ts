/** Floods of wrong passwords: how many guesses get through, and who still signs in. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';

const PER_HOUR = 30;

describe('a flood of sign-ins', () => {
  let world: HttpWorld;
  before(async () => {
    const limits = { signinFailuresPerHour: PER_HOUR, trustedProxies: ['127.0.0.1'] };
    world = await startHttpWorld({ settings: { ...limits, rates: { ...RATES, shared: true } } });
  });
  after(() => world.close());

  const RATES = {
    general: { capacity: 10, refillPerS: 1 },
    provision: { capacity: 10, refillPerS: 1 },
  };

  /** Signs in from an address, with a known device's cookie if there is one. */
  async function signIn(email: string, password: string, from: { address: string; device?: string }) {
    const visitor = world.visitor();
    await visitor.fetchCsrf();
    const cookie = [`PHPSESSID=${visitor.cookie}`, ...(from.device ? [`skerry_device=${from.device}`] : [])];
    const headers = { cookie: cookie.join('; '), 'x-forwarded-for': from.address };
    return await visitor.post('/auth-api.php', { action: 'signin', email, password }, { headers });
  }
  /** Signs in with the panel's form, which remembers the browser. Returns its cookie. */
  async function deviceOf(email: string, address: string): Promise<string> {
    const visitor = world.visitor();
    await visitor.fetchCsrf();
    const headers = { 'x-forwarded-for': address };
    const form = { _form: 'sign_in', email, password: PASSWORD };
    const answer = await visitor.post('/signin', form, { headers });
    assert.equal(answer.status, 303, answer.text);
    const cookies = answer.headers.getSetCookie().join('\n');
    const [line = '', device = ''] = /^skerry_device=([^;]+).*$/m.exec(cookies) ?? [];
    assert.match(line, /; Path=\/; HttpOnly; SameSite=Lax$/);
    return device;
  }
  const customer = async (): Promise<SessionClient> => await world.customer();
  const guess = (email: string, address: string) => signIn(email, 'a wrong guess', { address });
  const count = (answers: readonly { status: number }[], status: number) =>
    answers.filter((answer) => answer.status === status).length;

  it('240 parallel guesses on one account from one /48 do not get through', async () => {
    const { email } = await customer();
    const answers = await Promise.all(
      Array.from({ length: 240 }, (_, n) => guess(email, `2001:db8:48:${n.toString(16)}::1`)),
    );
    let tried = count(answers, 400);
    assert.ok(tried > 0 && tried < 4 * PER_HOUR, `${tried} guesses were tried`);
    assert.equal(count(answers, 429), 240 - tried);
    // Every guess from another /64 of the same /48.
    for (let n = 0; (await guess(email, `2001:db8:48:${n.toString(16)}ff::1`)).status === 400; n++) tried++;
    assert.equal(tried, 4 * PER_HOUR);
    const honest = await signIn(email, PASSWORD, { address: '198.51.100.9' });
    assert.equal(honest.status, 200, 'one network cannot use up the budget of the account');
  });

  it('guesses from everywhere stop at the budget of the account, but a known device signs in', async () => {
    const { email } = await customer();
    const device = await deviceOf(email, '198.51.100.10');
    let tried = 0;
    for (let network = 0; tried < 10 * PER_HOUR && network < 40; network++) {
      const address = `203.0.113.${network}`;
      const answers = await Promise.all(Array.from({ length: 20 }, () => guess(email, address)));
      tried += count(answers, 400);
      if (count(answers, 400) === 0) break;
    }
    assert.equal(tried, 10 * PER_HOUR);
    assert.equal((await signIn(email, PASSWORD, { address: '198.51.100.11' })).status, 429);
    const known = await signIn(email, PASSWORD, { address: '203.0.113.0', device });
    assert.equal(known.status, 200);
    assert.equal(
      (await signIn((await customer()).email, PASSWORD, { address: '198.51.100.12' })).status,
      200,
    );
  });

  it('the cookie of a device names no address and works for its account only', async () => {
    const [one, other] = [await customer(), await customer()];
    const device = await deviceOf(one.email, '198.51.100.20');
    assert.doesNotMatch(device, /198|@|example/);
    const tampered = device.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const [email, cookie] of [
      [other.email, device],
      [one.email, tampered.replace(/^./, 'x')],
    ] as const) {
      const address = `198.51.100.${email === one.email ? 21 : 22}`;
      for (let n = 0; n < PER_HOUR; n++) await signIn(email, 'a wrong guess', { address, device: cookie });
      assert.equal(
        (await signIn(email, PASSWORD, { address, device: cookie })).status,
        429,
        'counts as unknown',
      );
    }
  });

  it('a known device has a budget of its own, and the limits leave no address in the database', async () => {
    const { email } = await customer();
    const device = await deviceOf(email, '198.51.100.30');
    const address = '198.51.100.31';
    for (let n = 0; n < PER_HOUR; n++) {
      assert.equal((await signIn(email, 'a wrong guess', { address, device })).status, 400);
    }
    assert.equal((await signIn(email, PASSWORD, { address, device })).status, 429);
    assert.equal((await signIn(email, PASSWORD, { address })).status, 200, 'the address has not failed');
    const rows = await world.db.rows<{ text: string }>('select t::text as text from attempt_buckets t');
    assert.ok(rows.length > 0 && rows.every(({ text }) => !/198\.51|2001:|@/.test(text)));
  });

  it('the session surface sets no cookie but that of the session', async () => {
    const { email } = await customer();
    const answer = await signIn(email, PASSWORD, { address: '198.51.100.40' });
    assert.match(answer.headers.getSetCookie().join('\n'), /^PHPSESSID=[^\n]*$/);
  });

  it('many devices of one account share a second budget', async () => {
    const { email } = await customer();
    const address = '198.51.100.50';
    let tried = 0;
    for (let n = 0; n < 12; n++) {
      const device = await deviceOf(email, address);
      const guesses = Array.from({ length: PER_HOUR }, () =>
        signIn(email, 'a wrong guess', { address, device }),
      );
      tried += count(await Promise.all(guesses), 400);
    }
    assert.equal(tried, 10 * PER_HOUR);
  });

  it('a flood from a shared address shuts out no customer who is signed in', async () => {
    const client = await customer();
    const address = '198.51.100.60';
    for (let n = 0; n < PER_HOUR; n++) await guess('nobody@example.com', address);
    assert.equal((await guess('nobody@example.com', address)).status, 429);
    const headers = { 'x-forwarded-for': address };
    const token = { action: 'create_token', name: 'ci', scope: 'read', current_password: PASSWORD };
    assert.equal((await client.post('/account-api.php', token, { headers })).body.ok, true);
    const again = { action: 'signin', email: client.email, password: PASSWORD };
    assert.equal((await client.post('/auth-api.php', again, { headers })).body.ok, true);
  });

  it('guesses of a signed-in customer stop at 429, and no one else draws on their budget', async () => {
    const client = await customer();
    const change = { action: 'change_password', new_password: 'a fine new password' };
    const guess = () => client.post('/account-api.php', { ...change, current_password: 'a wrong guess' });
    for (let n = 0; n < PER_HOUR; n++) assert.equal((await guess()).body.error, 'bad_credentials');
    assert.equal((await guess()).status, 429);
  });
});
