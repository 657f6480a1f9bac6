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
    const answer = await visitor.post('/auth-api.php', { action: 'signin', email, password }, { headers });
    const device = answer.headers
      .getSetCookie()
      .flatMap((line) => /^skerry_device=([^;]+)/.exec(line)?.[1] ?? []);
    return { status: answer.status, device: device[0], cookies: answer.headers.getSetCookie() };
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
    const { device } = await signIn(email, PASSWORD, { address: '198.51.100.10' });
    assert.ok(device);
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
    const { device = '', cookies } = await signIn(one.email, PASSWORD, { address: '198.51.100.20' });
    assert.match(cookies[0] ?? '', /^skerry_device=.*; Path=\/; HttpOnly; SameSite=Lax$/);
    assert.match(cookies.at(-1) ?? '', /^PHPSESSID=/, 'simple clients read the last cookie');
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
    const { device = '' } = await signIn(email, PASSWORD, { address: '198.51.100.30' });
    const address = '198.51.100.31';
    for (let n = 0; n < PER_HOUR; n++) {
      assert.equal((await signIn(email, 'a wrong guess', { address, device })).status, 400);
    }
    assert.equal((await signIn(email, PASSWORD, { address, device })).status, 429);
    assert.equal((await signIn(email, PASSWORD, { address })).status, 200, 'the address has not failed');
    const rows = await world.db.rows<{ text: string }>('select t::text as text from attempt_buckets t');
    assert.ok(rows.length > 0 && rows.every(({ text }) => !/198\.51|2001:|@/.test(text)));
  });
});
