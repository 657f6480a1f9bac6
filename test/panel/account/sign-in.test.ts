import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { signIn } from '../../../src/domain/customers/sign-in.ts';
import { readCookie } from '../../../src/domain/sessions/cookie.ts';
import { signInResponseSaver } from '../../../src/domain/sessions/visitor-idempotency.ts';
import { isLocalPath } from '../../../src/http/panel/account/sign-in.ts';
import { postAccountAction } from '../../http/account-links.ts';
import { type HttpWorld, startHttpWorld } from '../../http/http-world.ts';
import { PanelClient, type PanelResponse, problemOf, textOf } from '../../support/panel-client.ts';
import { controlsOf, findForm } from '../../support/panel-html.ts';
import { PASSWORD, type SessionClient } from '../../support/session-client.ts';
import { totpAt } from '../../support/totp.ts';

const NEW = 'an entirely new password';
const CODE = /<code class="copy" data-copy>([a-z2-7]{5}(?:-[a-z2-7]{5,6}){4})<\/code>/;

let visitors = 0;
function newEmail(): string {
  visitors += 1;
  return `visitor${visitors}@example.org`;
}

describe('signing in and out of the panel', () => {
  let world: HttpWorld;
  before(async () => {
    world = await startHttpWorld();
  });
  after(() => world.close());

  const stranger = () => PanelClient.forApp(world.app);
  const codeOn = (page: PanelResponse) => CODE.exec(page.text)?.[1];
  const sessionsOf = async (email: string) => {
    const rows = await world.db.rows(
      'select from sessions s join customers c on c.id = s.customer_id where c.email = $1',
      [email],
    );
    return rows.length;
  };
  const newPassword = (password = PASSWORD) => ({ password, password_confirm: password });
  const isIn = async (client: PanelClient) => (await client.get('/account/sessions')).status === 200;
  /** Submits the sign-in form with all its fields. */
  const enter = (client: PanelClient, page: PanelResponse, email: string, more = {}) =>
    client.submit(page, 'sign_in', { email, password: PASSWORD, ...more });

  it('signing up shows the recovery code once and leads to the requested page', async () => {
    const client = stranger();
    const email = newEmail();
    const form = await client.get('/signup?next=/servers/new?plan=s1');
    const done = await client.submit(form, 'sign_up', { email, ...newPassword() });
    assert.equal(done.status, 200);
    assert.match(done.headers.get('cache-control') ?? '', /no-store/);
    const code = codeOn(done) ?? '';
    assert.ok(code !== '' && done.text.includes('href="/servers/new?plan=s1"'));
    assert.ok(textOf(done.text).includes(email), 'the page shows who is signed in');
    assert.ok(!done.text.includes(PASSWORD));
    for (const path of ['/signup', '/signin']) assert.equal((await client.get(path)).location, '/servers');
    assert.equal((await client.get('/signin?next=%2Fkeys')).location, '/keys');
    assert.ok(!(await client.open('/signup')).text.includes(code));
  });

  it('a second sign-up click shows the same code, whether sequential or concurrent', async () => {
    for (const atOnce of [false, true]) {
      const client = stranger();
      const email = newEmail();
      const form = await client.get('/signup');
      const click = () => client.submit(form, 'sign_up', { email, ...newPassword() });
      const pages = atOnce ? await Promise.all([click(), click()]) : [await click(), await click()];
      assert.ok(pages.every(({ status }) => status === 200));
      const [first, second] = pages.map(codeOn);
      assert.ok(first !== undefined && first === second);
      assert.equal(await sessionsOf(email), 1);
      assert.ok(await isIn(client));
    }
  });

  it('another visitor, form, or input never receives the saved sign-up response', async () => {
    const client = stranger();
    const email = newEmail();
    const form = await client.get('/signup');
    const { cookie } = client;
    const code = codeOn(await client.submit(form, 'sign_up', { email, ...newPassword() })) ?? '';
    const same = controlsOf(findForm(form.text, 'sign_up', undefined).content);
    const once = same.find(({ name }) => name === '_once')?.value ?? '';
    const thief = stranger();
    const theirs = await thief.get('/signup');
    const csrf = controlsOf(findForm(theirs.text, 'sign_up', undefined).content).find(
      ({ name }) => name === '_token',
    );
    const stolen = [
      ['_form', 'sign_up'],
      ['_once', once],
      ['_token', csrf?.value ?? ''],
      ['email', email],
    ] as const;
    const tries = [
      await thief.post('/signup', [...stolen, ['password', PASSWORD], ['password_confirm', PASSWORD]]),
      await PanelClient.forApp(world.app, { cookie }).submit(form, 'sign_up', { email, ...newPassword(NEW) }),
      await client.submit(theirs, 'sign_up', { email, ...newPassword() }).catch(() => null),
    ];
    for (const response of tries) {
      assert.ok(!response?.text.includes(code));
      if (response?.status === 409) assert.match(response.text, /already exists/);
    }
    const statuses = tries.map((response) => response?.status);
    assert.deepEqual(statuses, [409, 409, 403]);
    assert.equal(await sessionsOf(email), 1);
  });

  it('responses saved for a second click are unreadable in the database', async () => {
    const client = stranger();
    const form = await client.get('/signup');
    const done = await client.submit(form, 'sign_up', { email: newEmail(), ...newPassword() });
    const code = codeOn(done) ?? '';
    const rows = await world.db.rows<{ line: string }>('select i::text as line from idempotency i');
    assert.ok(rows.length > 0);
    for (const secret of [code, PASSWORD, client.cookie ?? '']) {
      const hex = Buffer.from(secret).toString('hex');
      assert.ok(!rows.some(({ line }) => line.includes(secret) || line.includes(hex)));
    }
    assert.ok(!world.log.join('').includes(code));
  });

  it('a rejected sign-up keeps the email address and no password', async () => {
    const client = stranger();
    const form = await client.get('/signup');
    const typed = { email: 'no address', password: PASSWORD, password_confirm: NEW };
    const bad = await client.submit(form, 'sign_up', typed);
    assert.equal(bad.status, 400);
    assert.match(problemOf(bad.text, 'email', 'sign_up') ?? '', /valid email address/);
    assert.ok(bad.text.includes('value="no address"') && !bad.text.includes(PASSWORD));
    const email = newEmail();
    const differ = await client.submit(bad, 'sign_up', { ...typed, email });
    assert.match(problemOf(differ.text, 'password_confirm', 'sign_up') ?? '', /passwords do not match/);
    const short = await client.submit(differ, 'sign_up', { email, ...newPassword('short') });
    assert.match(problemOf(short.text, 'password', 'sign_up') ?? '', /12 to 256/);
    assert.ok(codeOn(await client.submit(short, 'sign_up', { email, ...newPassword() })));
  });

  it('signing in leads to the requested page, and a second click opens no second session', async () => {
    const { email } = await world.customer();
    for (const atOnce of [false, true]) {
      await world.db.run('delete from sessions');
      const client = stranger();
      const asked = await client.get('/keys?cursor=x');
      const form = await client.followRedirects(asked);
      assert.equal(form.path, '/signin?next=%2Fkeys%3Fcursor%3Dx');
      const click = () => enter(client, form, email);
      const responses = atOnce ? await Promise.all([click(), click()]) : [await click(), await click()];
      assert.deepEqual(
        responses.map(({ status, location }) => [status, location]),
        [
          [303, '/keys?cursor=x'],
          [303, '/keys?cursor=x'],
        ],
      );
      assert.equal(await sessionsOf(email), 1);
      assert.equal((await client.followRedirects(responses[1] as PanelResponse)).status, 200);
    }
  });

  it('of two processes that sign in with the same form, one succeeds', async () => {
    const { email } = await world.customer();
    await world.db.run('delete from sessions');
    const client = stranger();
    await client.get('/signin');
    const { visitor = '' } = readCookie(world.service.keys, client.cookie) ?? {};
    const actor = { customerId: null, sessionId: null, tokenId: null, requestId: 'req_x', ipCountry: 'XX' };
    const fields = new Map([['email', email]]);
    const form = { visitor, key: 'k', path: '/signin', fields, target: { email }, requestId: 'req_x' };
    const visit = { visitor, actor, saveResponse: signInResponseSaver(world.service, form) };
    const both = [1, 2].map(() => signIn(world.service, visit, { email, password: PASSWORD, code: '' }));
    const outcomes = (await Promise.allSettled(both)).map(({ status }) => status);
    assert.deepEqual(outcomes.sort(), ['fulfilled', 'rejected']);
    assert.equal(await sessionsOf(email), 1);
  });

  it('the same form signs in again after its session has ended', async () => {
    const { email } = await world.customer();
    const client = stranger();
    const form = await client.get('/signin');
    await enter(client, form, email);
    const out = await client.get('/signout');
    assert.ok(await isIn(client), 'opening the sign-out page ends nothing');
    assert.equal((await client.submit(out, 'sign_out')).location, '/?done=signed_out');
    assert.ok(!(await isIn(client)));
    assert.match((await client.get('/signout')).text, /You are not signed in/);
    assert.equal((await enter(client, form, email)).status, 303);
    assert.ok(await isIn(client));
    assert.equal((await enter(client, form, email)).status, 303);
    assert.equal(await sessionsOf(email), 2, 'the session of the sign-up, and this one');
  });

  it('a wrong password keeps the address, drops the password, and reveals no account', async () => {
    const { email } = await world.customer();
    const client = stranger();
    const form = await client.get('/signin');
    const pages = [];
    for (const address of [email, newEmail()]) {
      const page = await client.submit(form, 'sign_in', { email: address, password: NEW });
      assert.equal(page.status, 401);
      assert.ok(page.text.includes(`value="${address}"`) && !page.text.includes(NEW));
      pages.push(textOf(page.text));
    }
    assert.match(pages[0] ?? '', /The email or password is incorrect/);
    assert.equal(pages[0], pages[1]);
  });

  it('signing in asks for the one-time code if the account has one, and keeps the address', async () => {
    const customer = await world.customer();
    const secret = String((await postAccountAction(customer, { action: 'enable_totp' })).body.secret);
    await postAccountAction(customer, { action: 'enable_totp', code: totpAt(secret) });
    await world.db.run('update totp_secrets set last_step = 0');
    const client = stranger();
    const asked = await enter(client, await client.get('/signin'), customer.email);
    assert.equal(asked.status, 400);
    assert.match(problemOf(asked.text, 'code', 'sign_in') ?? '', /requires a one-time code/);
    assert.ok(asked.text.includes(`value="${customer.email}"`) && !asked.text.includes(PASSWORD));
    const code = totpAt(secret);
    for (const click of [1, 2]) {
      const entered = await enter(client, asked, customer.email, { code });
      assert.equal(entered.status, 303, `click ${click}: only the first uses the code`);
    }
    assert.equal(await sessionsOf(customer.email), 2);
  });

  it('signing in never leads to another site', async () => {
    const hostile = [
      '//evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/.//evil.example',
      '/a//evil',
      '/\t/evil.example',
      '/\r\nset-cookie: a=b',
      '/ä',
      '',
      'servers',
      '/a b',
      `/${'a'.repeat(2_000)}`,
      '/\u0000',
    ];
    const customer = await world.customer();
    const inside = PanelClient.forApp(world.app, { cookie: customer.cookie });
    for (const next of hostile) {
      assert.equal(isLocalPath(next), false, next);
      const path = `/signin?${new URLSearchParams({ next })}`;
      assert.equal((await inside.get(path)).location, '/servers', next);
    }
    const client = stranger();
    const form = await client.get(`/signin?${new URLSearchParams({ next: hostile[0] ?? '' })}`);
    assert.ok(!/href="[^"]*evil/.test(form.text));
    assert.equal((await enter(client, form, customer.email)).location, '/servers');
    assert.ok(isLocalPath('/servers/srv_1?a=b#c'));
  });

  const recover = (client: PanelClient, page: PanelResponse, customer: SessionClient, code: string) =>
    client.submit(page, 'recover', { email: customer.email, recovery_code: code, ...newPassword(NEW) });

  it('the recovery code sets a password and returns a new code, the same for a second click', async () => {
    const customer = await world.customer();
    const client = stranger();
    const form = await client.get('/recover');
    const wrong = await recover(client, form, customer, 'wrong');
    assert.deepEqual([wrong.status, /value="wrong"/.test(wrong.text)], [401, false]);
    const [first, second] = [
      await recover(client, form, customer, customer.recoveryCode),
      await recover(client, form, customer, customer.recoveryCode),
    ].map(codeOn);
    assert.ok(first !== undefined && first === second && first !== customer.recoveryCode);
    assert.equal(await sessionsOf(customer.email), 1);
    assert.ok(await isIn(client));
    assert.ok(!(await isIn(PanelClient.forApp(world.app, { cookie: customer.cookie }))));
    const late = await recover(stranger(), await client.get('/recover'), customer, first).catch(() => null);
    assert.equal(late?.status, 403, 'the form belongs to another visitor');
  });
});

describe('the sign-up limit per address', () => {
  it('a double click counts once, so the last allowed sign-up keeps its code', async () => {
    const world = await startHttpWorld({ settings: { signupsPerHour: 1 } });
    try {
      const client = PanelClient.forApp(world.app);
      const form = await client.get('/signup');
      const passwords = { password: PASSWORD, password_confirm: PASSWORD };
      const click = (email: string) => client.submit(form, 'sign_up', { email, ...passwords });
      const pages = [await click('one@example.org'), await click('one@example.org')];
      const codes = pages.map(({ text }) => CODE.exec(text)?.[1]);
      assert.ok(codes[0] !== undefined && codes[0] === codes[1]);
      assert.equal((await click('another@example.org')).status, 429);
    } finally {
      await world.close();
    }
  });
});
