import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inviteStaff } from '../../../src/domain/staff/people.ts';
import { CONSOLE_PAGES } from '../../../src/http/admin/console-pages.ts';
import { ADMIN_ROUTES } from '../../../src/http/admin/routes.ts';
import { STAFF_LIMITS } from '../../../src/spec/staff/roles.ts';
import { textOf } from '../../support/panel-client.ts';
import { STEP_MS, totpAt, wrongTotp } from '../../support/totp.ts';
import { fill, PASSWORD, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

/** The next code of a person: the current one was used to join. */
const nextCode = ({ secret }: Person) => totpAt(secret, Date.now() + STEP_MS);

describe('the operator console', () => {
  let world: StaffWorld;
  let owner: Person;
  let customerEmail = '';
  let usedCode = '';

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    const customer = await world.customer(40);
    customerEmail = customer.email ?? '';
  });
  after(() => world.close());

  it('sends a stranger to the sign-in page from every page', async () => {
    for (const { path, access } of CONSOLE_PAGES) {
      const { status, location } = await world.stranger().get(path.replace('{id}', 'x'));
      if (access === 'staff') assert.match(location ?? '', /^\/sign-in/, path);
      else assert.ok(status < 500, path);
    }
  });

  it('signs in with password and one-time code, and refuses each of them alone', async () => {
    const browser = world.stranger();
    const code = nextCode(owner);
    const wrong = { email: owner.email, password: PASSWORD, code: wrongTotp(owner.secret) };
    for (const input of [wrong, { ...wrong, password: 'not the right password', code }]) {
      const refused = await fill(browser, '/sign-in', 'sign_in', input);
      assert.match(textOf(refused.text), /email, password, or one-time code is incorrect/);
    }
    const done = await fill(browser, '/sign-in', 'sign_in', { email: owner.email, password: PASSWORD, code });
    usedCode = code;
    assert.equal(done.location, '/');
    assert.match((await browser.open('/')).text, /Overview/);
  });

  it('refuses a one-time code that was used', async () => {
    const input = { email: owner.email, password: PASSWORD, code: usedCode };
    const refused = await fill(world.stranger(), '/sign-in', 'sign_in', input);
    assert.equal(refused.status, 401);
  });

  it('refuses an address that guessed too often, also with the right password', async () => {
    const victim = await world.person('support', 'victim@host.example');
    const browser = world.stranger();
    const input = { email: victim.email, password: PASSWORD, code: wrongTotp(victim.secret) };
    for (let count = 0; count < STAFF_LIMITS.failuresPerHour; count += 1) {
      assert.equal((await fill(browser, '/sign-in', 'sign_in', input)).status, 401);
    }
    const right = { ...input, code: nextCode(victim) };
    assert.equal((await fill(browser, '/sign-in', 'sign_in', right)).status, 429);
    const unknown = { ...input, email: 'nobody@host.example' };
    for (let count = 0; count < STAFF_LIMITS.failuresPerHour; count += 1) {
      assert.equal((await fill(browser, '/sign-in', 'sign_in', unknown)).status, 401);
    }
    assert.equal((await fill(browser, '/sign-in', 'sign_in', unknown)).status, 429);
  });

  it('shows each page to a person who is signed in', async () => {
    const ids: Record<string, string> = { '/customers/{id}': customerEmail };
    for (const { path, access } of CONSOLE_PAGES) {
      if (access === 'anyone' || path.includes('{id}')) continue;
      const { status, text } = await owner.browser.get(path);
      assert.equal(status, 200, `${path}: ${text}`);
    }
    const page = await owner.browser.get(`/customers/${encodeURIComponent(ids['/customers/{id}'] ?? '')}`);
    assert.equal(page.status, 200, page.text);
    assert.match(textOf(page.text), /\$40\.00 balance/);
  });

  it('finds a customer by the beginning of the address, by id, and by transaction', async () => {
    const list = await world.api(owner.token, 'GET', `/customers?search=${customerEmail.slice(0, 8)}`);
    const [found] = list.body.data as { id: string; email: string }[];
    assert.equal(found?.email, customerEmail);
    const topups = await world.api(owner.token, 'GET', `/topups?customer=${customerEmail}`);
    const [topup] = topups.body.data as { id: string; deposit_address: string; order_ref: string }[];
    const full = await world.api(owner.token, 'GET', `/topups/${topup?.id}`);
    const [payment] = full.body.payments as { txid: string }[];
    for (const text of [found?.id, topup?.id, topup?.order_ref, topup?.deposit_address, payment?.txid]) {
      const again = await world.api(owner.token, 'GET', `/customers?search=${text}`);
      assert.deepEqual(
        (again.body.data as { email: string }[]).map(({ email }) => email),
        [customerEmail],
        text,
      );
    }
    const none = await world.api(owner.token, 'GET', '/customers?search=%25');
    assert.deepEqual(none.body.data, []);
  });

  it('credits once for a form that was sent twice, and keeps who and why in the staff log', async () => {
    const path = `/customers/${encodeURIComponent(customerEmail)}`;
    const page = await owner.browser.get(path);
    const once = /name="_once" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const input = { amount_usd: '5.00', description: 'goodwill', reason: 'outage', _once: once };
    const first = await owner.browser.submit(page, 'customers.credit', input);
    assert.match(first.location ?? '', /done=credited/, first.text);
    const second = await owner.browser.submit(page, 'customers.credit', input);
    assert.match(second.location ?? '', /done=repeated/);
    assert.match(textOf((await owner.browser.get(path)).text), /\$45\.00 balance/);
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=customers.credit');
    const entries = log.body.data as { email: string; reason: string; result: string; target: string }[];
    assert.match(entries[0]?.target ?? '', /^cus_/);
    assert.deepEqual(
      entries.map(({ email, reason, result }) => ({ email, reason, result })),
      [{ email: owner.email, reason: 'outage', result: 'ok' }],
    );
  });

  it('refuses an act without a reason, and does nothing', async () => {
    const path = `/customers/${encodeURIComponent(customerEmail)}`;
    const refused = await fill(owner.browser, path, 'customers.freeze', { reason: ' ' });
    assert.equal(refused.status, 400);
    assert.match(textOf(refused.text), /reason/i);
    const { body } = await world.api(owner.token, 'GET', path);
    assert.equal(body.frozen_at, null);
  });

  it('logs an act that a role may not perform as denied', async () => {
    const reader = await world.person('read_only');
    const body = { amount_usd: '5.00', description: 'x', reason: 'y' };
    const denied = await world.api(reader.token, 'POST', `/customers/${customerEmail}/credit`, body);
    assert.equal(denied.status, 403);
    const log = await world.api(owner.token, 'GET', '/staff_log?operation=customers.credit');
    const [latest] = log.body.data as { email: string; result: string }[];
    assert.deepEqual([latest?.email, latest?.result], [reader.email, 'denied']);
  });

  it('ends the access of a person at once, and keeps one owner', async () => {
    const person = await world.person('technician');
    const list = await world.api(owner.token, 'GET', '/staff');
    const rows = list.body.data as { id: string; email: string }[];
    const idOf = (email: string) => rows.find((row) => row.email === email)?.id ?? '';
    assert.equal((await world.api(person.token, 'GET', '/status')).status, 200);
    const ended = await world.api(owner.token, 'POST', `/staff/${idOf(person.email)}/disable`);
    assert.equal(ended.status, 200, JSON.stringify(ended.body));
    assert.equal((await world.api(person.token, 'GET', '/status')).status, 401);
    assert.match((await person.browser.get('/')).location ?? '', /sign-in/);
    const last = await world.api(owner.token, 'POST', `/staff/${idOf(owner.email)}/disable`);
    assert.equal(last.status, 409);
    const demoted = await world.api(owner.token, 'PATCH', `/staff/${idOf(owner.email)}`, { role: 'support' });
    assert.equal(demoted.status, 409);
  });

  it('refuses a repeated Idempotency-Key, unless the first request was refused', async () => {
    const path = `/customers/${encodeURIComponent(customerEmail)}/credit`;
    const send = (amount: string) =>
      world.api(
        owner.token,
        'POST',
        path,
        { amount_usd: amount, description: 'goodwill', reason: 'outage' },
        { 'idempotency-key': 'once' },
      );
    assert.equal((await send('none')).status, 400);
    assert.equal((await send('1.00')).status, 201);
    assert.equal((await send('1.00')).status, 409);
  });

  it('lets no one create a token with more rights than their own', async () => {
    const support = await world.person('support', 'climber@host.example');
    const create = (token: string, role: string, code: string) =>
      world.api(token, 'POST', '/staff_tokens', { name: 'climb', role, code });
    const code = nextCode(support);
    assert.equal((await create(support.token, 'owner', code)).status, 403);
    const reader = await create(support.token, 'read_only', code);
    assert.equal(reader.status, 201, JSON.stringify(reader.body));
    assert.equal((await create(String(reader.body.token), 'support', code)).status, 403);
  });

  it('creates a token only with a current one-time code, and lets it work until access ends', async () => {
    const person = await world.person('finance', 'money@host.example');
    const order = { name: 'report', role: 'read_only', expires_at: '' };
    const wrong = await fill(person.browser, '/tokens', 'create', {
      ...order,
      code: wrongTotp(person.secret),
    });
    assert.match(textOf(wrong.text), /one-time code is incorrect/);
    const code = nextCode(person);
    const created = await fill(person.browser, '/tokens', 'create', { ...order, code });
    const token = /skerry_staff_[\w-]+/.exec(created.text)?.[0] ?? assert.fail(created.text);
    assert.equal((await world.api(token, 'GET', '/status')).status, 200);
    await inviteStaff(world.opened.service, { email: person.email, name: 'Money', role: 'finance' });
    assert.equal((await world.api(token, 'GET', '/status')).status, 401);
    assert.match((await person.browser.get('/')).location ?? '', /sign-in/);
  });

  it('lets only owners lift a legal hold', async () => {
    const technician = await world.person('technician', 'tech@host.example');
    const path = '/servers/srv_aaaqk3m7qzb5x2l6v4t7n8wyja';
    const reason = { reason: 'a test' };
    assert.equal((await world.api(technician.token, 'POST', `${path}/release_hold`, reason)).status, 403);
    assert.notEqual((await world.api(technician.token, 'POST', `${path}/release`, reason)).status, 403);
  });

  it('finds a customer by the address of a server without an address in a URL', async () => {
    const found = await fill(owner.browser, '/customers', 'find', { search: customerEmail });
    assert.match(found.location ?? '', /^\/customers\/cus_/);
    const none = await fill(owner.browser, '/customers', 'find', { search: '203.0.113.7' });
    assert.equal(none.location, '/customers?done=not_found');
  });

  it('refuses forms of other sites and forms without the CSRF token', async () => {
    const path = '/staff';
    const forged = await fetch(`${world.console}${path}`, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        cookie: `skerry_staff=${owner.browser.cookie}`,
        origin: 'https://evil.example',
        'sec-fetch-site': 'cross-site',
      },
      body: '_form=invite&email=evil%40host.example&name=Evil&role=owner',
    });
    assert.equal(forged.status, 403);
    const list = await world.api(owner.token, 'GET', '/staff');
    const emails = (list.body.data as { email: string }[]).map(({ email }) => email);
    assert.ok(!emails.includes('evil@host.example'));
  });

  it('lists all staff, one page at a time', async () => {
    const { service } = world.opened;
    for (let n = 0; n < STAFF_LIMITS.pageSize; n += 1) {
      await inviteStaff(service, { email: `many-${n}@host.example`, name: `Person ${n}`, role: 'read_only' });
    }
    const first = await owner.browser.get('/staff');
    assert.doesNotMatch(first.text, /owner@host\.example/);
    const [, next = ''] = /href="(\/staff\?before=stf_[^"]+)"/.exec(first.text) ?? [];
    const second = await owner.browser.get(next);
    assert.match(second.text, /owner@host\.example/);
    assert.doesNotMatch(second.text, /More people/);
    const { body } = await world.api(owner.token, 'GET', '/staff?limit=200');
    assert.equal(body.has_more, false);
  });

  it('voids an invitation that was used, has expired, or was replaced', async () => {
    const { service } = world.opened;
    const order = { email: 'late@host.example', name: 'Late', role: 'support' };
    const first = await inviteStaff(service, order);
    const second = await inviteStaff(service, order);
    assert.equal((await world.stranger().get(`/join?code=${first.code}`)).status, 404);
    assert.equal((await world.stranger().get(`/join?code=${second.code}`)).status, 200);
    await world.advance(STAFF_LIMITS.inviteHours * 3_600);
    assert.equal((await world.stranger().get(`/join?code=${second.code}`)).status, 404);
  });

  it('answers nothing on the port of customers', async () => {
    for (const { method, path } of ADMIN_ROUTES) {
      const url = `${world.url}/admin/v1${path.replace('{id}', 'x')}`;
      const headers = { authorization: `Bearer ${owner.token}` };
      assert.equal((await fetch(url, { method, headers })).status, 404, path);
    }
    assert.equal((await fetch(`${world.url}/admin/v1/openapi.json`)).status, 404);
    for (const path of ['/join', '/log', '/customers', '/staff', '/tokens', '/sign-out']) {
      assert.equal((await fetch(`${world.url}${path}`)).status, 404, path);
    }
  });
});
