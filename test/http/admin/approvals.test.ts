import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { textOf } from '../../support/panel-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('approval by a second person', () => {
  let world: StaffWorld;
  let ann: Person;
  let ben: Person;
  let customer = '';

  before(async () => {
    world = await startStaffWorld();
    ann = await world.person('owner', 'ann@host.example');
    ben = await world.person('finance', 'ben@host.example');
    customer = (await world.customer()).email ?? '';
  });
  after(() => world.close());

  async function credit(person: Person, amount: string) {
    const body = { amount_usd: amount, description: 'goodwill', reason: 'an outage' };
    return await world.api(person.token, 'POST', `/customers/${customer}/credit`, body);
  }

  async function balance(): Promise<unknown> {
    const { body } = await world.api(ann.token, 'GET', `/customers/${customer}`);
    return body.balance_usd;
  }

  it('holds an act above the amount of the rule, and nothing below it', async () => {
    const rule = { operation: 'customers.credit', over_usd: '50' };
    const set = await world.api(ann.token, 'POST', '/approval_rules', rule);
    assert.equal(set.status, 201, JSON.stringify(set.body));
    assert.equal((await credit(ben, '50.00')).status, 201);
    assert.equal(await balance(), 50);
    const held = await credit(ben, '50.01');
    assert.equal(held.status, 202, JSON.stringify(held.body));
    assert.equal(held.body.state, 'open');
    assert.equal(await balance(), 50);
  });

  it('refuses the person who asked, a wrong code, and a role that may not do it', async () => {
    const { body: held } = await credit(ben, '60.00');
    const path = `/approvals/${held.id}/approve`;
    const own = await world.api(ben.token, 'POST', path, { code: await world.code(ben) });
    assert.equal(own.status, 403, JSON.stringify(own.body));
    const without = await world.api(ann.token, 'POST', path, { code: '000000' });
    assert.equal(without.status, 400, JSON.stringify(without.body));
    const support = await world.person('support');
    const other = await world.api(support.token, 'POST', path, { code: await world.code(support) });
    assert.equal(other.status, 403, JSON.stringify(other.body));
    assert.equal(await balance(), 50);
  });

  it('carries the act out once, as the person who asked', async () => {
    const { body: held } = await credit(ben, '100.00');
    const path = `/approvals/${held.id}/approve`;
    const done = await world.api(ann.token, 'POST', path, { code: await world.code(ann) });
    assert.deepEqual([done.status, done.body.state], [200, 'done'], JSON.stringify(done.body));
    assert.equal(await balance(), 150);
    const again = await world.api(ann.token, 'POST', path, { code: await world.code(ann) });
    assert.equal(again.status, 409, JSON.stringify(again.body));
    assert.equal(await balance(), 150);
    const { body: log } = await world.api(ann.token, 'GET', '/staff_log?operation=customers.credit');
    const [entry] = log.data as { email: string; result: string; details: { approved_by: string } }[];
    assert.equal(entry?.email, ben.email);
    assert.equal(entry?.result, 'ok');
    assert.match(entry?.details.approved_by ?? '', /^stf_/);
  });

  it('works in the console', async () => {
    const held = await fill(ben.browser, `/customers/${customer}`, 'customers.credit', {
      ...{ amount_usd: '70', description: 'goodwill', reason: 'an outage' },
    });
    assert.match(textOf((await ben.browser.open(held.location ?? '')).text), /Sent for approval/);
    const { body } = await world.api(ann.token, 'GET', '/approvals?state=open');
    const [newest] = body.data as { id: string }[];
    const path = `/approvals/${newest?.id}`;
    const approved = await fill(ann.browser, path, 'approvals.approve', { code: await world.code(ann) });
    assert.match(textOf((await ann.browser.open(approved.location ?? '')).text), /Approved and carried out/);
    assert.equal(await balance(), 220);
  });

  it('lets no one act after they lost access', async () => {
    const leaver = await world.person('finance', 'leaver@host.example');
    const { body: held } = await credit(leaver, '80.00');
    await world.api(ann.token, 'POST', '/staff/leaver@host.example/disable');
    const late = await world.api(ann.token, 'POST', `/approvals/${held.id}/approve`, {
      code: await world.code(ann),
    });
    assert.equal(late.status, 409, JSON.stringify(late.body));
    assert.equal(await balance(), 220);
  });

  it('guards its own rules and the staff once there is a second owner', async () => {
    const ceo = await world.person('owner', 'ceo@host.example');
    const invite = { email: 'mole@host.example', name: 'Mole', role: 'owner' };
    for (const [method, path, body] of [
      ['POST', '/staff', invite],
      ['POST', '/staff/ceo@host.example/disable', undefined],
      ['PATCH', '/staff/ben@host.example', { role: 'owner' }],
      ['DELETE', '/approval_rules/customers.credit', undefined],
      ['POST', '/approval_rules', { operation: 'customers.credit', over_usd: '100000' }],
    ] as const) {
      const answer = await world.api(ann.token, method, path, body);
      assert.equal(answer.status, 202, `${method} ${path}: ${JSON.stringify(answer.body)}`);
    }
    const { body } = await world.api(ceo.token, 'GET', '/approvals?state=open');
    const ids = (body.data as { id: string }[]).slice(0, 5).map(({ id }) => id);
    for (const id of ids) {
      const refused = await world.api(ceo.token, 'POST', `/approvals/${id}/refuse`);
      assert.deepEqual([refused.status, refused.body.state], [200, 'refused']);
    }
    assert.equal((await world.api(ann.token, 'GET', '/approval_rules/customers.credit')).body.over_usd, 50);
  });

  it('forgets a request after three days', async () => {
    const { body: held } = await credit(ben, '90.00');
    await world.advance((3 * DAY_MS) / SECOND_MS + 1);
    const late = await world.api(ann.token, 'POST', `/approvals/${held.id}/approve`, {
      code: await world.code(ann),
    });
    assert.equal(late.status, 409, JSON.stringify(late.body));
    assert.equal((await world.api(ann.token, 'GET', `/approvals/${held.id}`)).body.state, 'expired');
  });

  it('refuses further codes after ten wrong ones', async () => {
    const { body: held } = await credit(ben, '95.00');
    const path = `/approvals/${held.id}/approve`;
    const ada = await world.person('owner', 'ada@host.example');
    for (let count = 0; count < 10; count += 1) await world.api(ada.token, 'POST', path, { code: '000000' });
    const right = await world.api(ada.token, 'POST', path, { code: await world.code(ada) });
    assert.equal(right.status, 429, JSON.stringify(right.body));
  });

  it('adds up what a person credited to a customer in 24 hours', async () => {
    customer = (await world.customer()).email ?? '';
    assert.equal((await credit(ben, '30.00')).status, 201);
    const { body: held } = await credit(ben, '20.01');
    assert.equal(held.state, 'open', JSON.stringify(held));
    assert.equal((await credit(ben, '20.00')).status, 201);
    assert.equal((await credit(ben, '0.01')).status, 202);
    assert.equal((await credit(ann, '50.00')).status, 201);
    const coupon = { coupon_code: 'MORE', amount_usd: '0.01', max_uses: 1, reason: 'an outage' };
    assert.equal((await world.api(ben.token, 'POST', '/coupons', coupon)).status, 202);
    await world.advance(DAY_MS / SECOND_MS + 1);
    assert.equal((await world.api(ben.token, 'POST', '/coupons', coupon)).status, 201);
    assert.equal((await credit(ben, '50.00')).status, 202);
    assert.equal((await credit(ben, '49.99')).status, 201);
  });

  it('does not add what a second person approved', async () => {
    const { email } = await world.customer();
    await world.advance(DAY_MS / SECOND_MS + 1);
    customer = email ?? '';
    const { body: held } = await credit(ben, '51.00');
    const code = await world.code(ann);
    const done = await world.api(ann.token, 'POST', `/approvals/${held.id}/approve`, { code });
    assert.equal(done.body.state, 'done', JSON.stringify(done.body));
    assert.equal((await credit(ben, '50.00')).status, 201);
  });

  it('names a bad rule', async () => {
    for (const rule of [
      { operation: 'approvals.approve' },
      { operation: 'customers.credit', over_usd: 'x' },
    ]) {
      const refused = await world.api(ann.token, 'POST', '/approval_rules', rule);
      assert.equal(refused.status, 400, JSON.stringify(refused.body));
    }
  });
});
