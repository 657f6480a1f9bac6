import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { PanelClient, type PanelResponse, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Coupon {
  readonly id: string;
  readonly code: string;
  readonly state: string;
  readonly uses: number;
  readonly credited_usd: number;
  readonly redemptions: readonly { readonly customer: string }[];
}

describe('coupons', () => {
  let world: StaffWorld;
  let finance: Person;

  before(async () => {
    world = await startStaffWorld({ SKERRY_SIGNIN_FAILURES_PER_HOUR: '10' });
    finance = await world.person('finance');
  });
  after(() => world.close());

  const create = async (code: string, order: object = {}): Promise<Coupon> => {
    const body = { coupon_code: code, amount_usd: '5.00', max_uses: 10, reason: 'spring sale', ...order };
    const made = await world.api(finance.token, 'POST', '/coupons', body);
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body as unknown as Coupon;
  };
  const read = async ({ id }: Coupon): Promise<Coupon> =>
    (await world.api(finance.token, 'GET', `/coupons/${id}`)).body as unknown as Coupon;
  const panelOf = ({ cookie }: SessionClient) => PanelClient.forUrl(world.url, { cookie });
  const redeem = (customer: SessionClient, code: string): Promise<PanelResponse> =>
    fill(panelOf(customer), '/billing', 'redeem', { code });
  const refusal = async (customer: SessionClient, code: string, message: RegExp) => {
    const { status, text } = await redeem(customer, code);
    assert.equal(status, 400);
    assert.match(textOf(text), message);
  };
  const isRedeemed = ({ location }: PanelResponse) => location?.includes('coupon_redeemed') ?? false;
  const ledgerOf = async (customer: SessionClient) =>
    await world.opened.db.rows<{ type: string; amount_cents: bigint; description: string }>(
      `select t.type, t.amount_cents, t.description from transfers t join customers c on c.id = t.customer_id
        where c.email = $1`,
      [customer.email],
    );

  it('add credit, which the customer and staff see', async () => {
    const coupon = await create('SPRING', { note: 'For the fair' });
    const customer = await world.customer();
    const done = await redeem(customer, '  spring ');
    assert.ok(isRedeemed(done), done.text);
    const entry = { type: 'adjustment', amount_cents: 500n, description: 'Coupon SPRING' };
    assert.deepEqual(await ledgerOf(customer), [entry]);
    const panel = panelOf(customer);
    assert.match(textOf((await panel.get(done.location ?? '')).text), /Coupon redeemed.*Balance \$5\.00/);
    assert.match(textOf((await panel.get('/account/audit')).text), /coupon\.redeem/);
    await refusal(customer, 'SPRING', /You have already used this coupon/);
    const shown = await read(coupon);
    assert.deepEqual([shown.uses, shown.credited_usd, shown.state], [1, 5, 'active']);
    assert.deepEqual(
      shown.redemptions.map((use) => use.customer),
      [customer.email],
    );
    const page = textOf((await finance.browser.get(`/coupons/${coupon.id}`)).text);
    assert.match(page, /1 of 10.*For the fair.*Latest uses/);
    assert.ok(page.includes(customer.email));
  });

  it('are created and ended in the console', async () => {
    const made = await fill(finance.browser, '/coupons', 'coupons.create', {
      ...{ coupon_code: 'fair-26', amount_usd: '12.50', max_uses: '3', expires: '2100-01-31' },
      reason: 'a fair',
    });
    const path = made.location?.split('?')[0] ?? '';
    assert.match(path, /^\/coupons\/cpn_\w{26}$/, made.text);
    assert.match(textOf((await finance.browser.get('/coupons')).text), /FAIR-26 active \$12\.50 0 of 3/);
    const ended = await fill(finance.browser, path, 'coupons.end', { reason: 'the fair is over' });
    assert.match(ended.location ?? '', /done=saved/, ended.text);
    await refusal(await world.customer(), 'FAIR-26', /This coupon is no longer valid/);
    const again = await world.api(finance.token, 'POST', `${path}/end`, { reason: 'again' });
    assert.equal(again.status, 409);
    const log = await world.api(finance.token, 'GET', '/staff_log?operation=coupons.end');
    const targets = (log.body.data as { target: string }[]).map(({ target }) => target);
    assert.ok(targets.every((target) => path.endsWith(target)) && targets.length > 0, targets.join());
  });

  it('refuse an order that is wrong', async () => {
    const good = { coupon_code: 'GOOD', amount_usd: '5', max_uses: 1, reason: 'a test' };
    const wrong: readonly (readonly [field: string, value: unknown])[] = [
      ['coupon_code', 'A B'],
      ['coupon_code', 'ab'],
      ['amount_usd', '0'],
      ['amount_usd', '10000.01'],
      ['max_uses', 0],
      ['max_uses', 1_000_001],
      ['expires', '2020-01-01'],
      ['expires', 'soon'],
      ['account_days', 0],
      ['note', 'two\nlines'],
      ['reason', ''],
    ];
    for (const [name, value] of wrong) {
      const { status, body } = await world.api(finance.token, 'POST', '/coupons', { ...good, [name]: value });
      assert.equal(status, 400, `${name} ${value}: ${JSON.stringify(body)}`);
      assert.ok(JSON.stringify(body).includes(name), JSON.stringify(body));
    }
    await create('TAKEN');
    const taken = await world.api(finance.token, 'POST', '/coupons', { ...good, coupon_code: 'taken' });
    assert.equal(taken.status, 409);
    assert.equal((await world.api(finance.token, 'GET', '/coupons/TAKEN')).status, 404);
  });

  it('end by their uses, their date, and the age of the account', async () => {
    const [first, second] = [await world.customer(), await world.customer()];
    const one = await create('ONCE', { max_uses: 1 });
    assert.ok(isRedeemed(await redeem(first, 'ONCE')));
    await refusal(second, 'ONCE', /This coupon has been used up/);
    assert.equal((await read(one)).state, 'used_up');
    await create('TRIAL', { account_days: 7 });
    assert.ok(isRedeemed(await redeem(first, 'TRIAL')));
    const { db } = world.opened;
    const age = `update customers set created_at = created_at - interval '7 days' where email = $1`;
    await db.run(age, [second.email]);
    await refusal(second, 'TRIAL', /only for accounts younger than 7 days/);
    const late = await create('LATE', { expires: '2100-01-01' });
    await db.run(`update coupons set expires_at = created_at where code = 'LATE'`);
    await refusal(second, 'LATE', /This coupon has expired/);
    assert.equal((await read(late)).state, 'expired');
    assert.deepEqual(await ledgerOf(second), []);
  });

  it('never exceed their uses, and credit a customer once, when all come at the same time', async () => {
    const coupon = await create('RUSH', { max_uses: 3 });
    const customers: SessionClient[] = [];
    for (let count = 0; count < 8; count += 1) customers.push(await world.customer());
    const answers = await Promise.all(customers.map((customer) => redeem(customer, 'RUSH')));
    assert.equal(answers.filter(isRedeemed).length, 3);
    assert.deepEqual((await Promise.all(customers.map(ledgerOf))).flat().length, 3);
    const shown = await read(coupon);
    assert.deepEqual([shown.uses, shown.redemptions.length, shown.state], [3, 3, 'used_up']);
    const twice = await create('TWICE');
    const customer = await world.customer();
    // Each has a page of its own, so they are not one form that is sent twice.
    const both = await Promise.all([1, 2, 3, 4].map(() => redeem(customer, 'TWICE')));
    assert.equal(both.filter(isRedeemed).length, 1);
    assert.equal((await ledgerOf(customer)).length, 1);
    assert.equal((await read(twice)).uses, 1);
  });

  it('limit wrong codes of one customer, and of no one else', async () => {
    await create('RIGHT');
    const customer = await world.customer();
    for (let guess = 0; guess < 10; guess += 1) {
      await refusal(customer, guess === 0 ? '%_*' : `WRONG-${guess}`, /No coupon has this code/);
    }
    assert.equal((await redeem(customer, 'RIGHT')).status, 429);
    assert.deepEqual(await ledgerOf(customer), []);
    assert.ok(isRedeemed(await redeem(await world.customer(), 'RIGHT')));
  });

  it('wait for a second person by all that they can cost', async () => {
    const owner = await world.person('owner');
    await world.api(owner.token, 'POST', '/approval_rules', { operation: 'coupons.create', over_usd: '50' });
    const order = { amount_usd: '5.00', max_uses: 11, reason: 'a larger sale', coupon_code: 'LARGE' };
    // Those of the last 24 hours count as well.
    await world.advance(DAY_MS / SECOND_MS + 1);
    await create('SMALL', { amount_usd: '5.00', max_uses: 10 });
    const invalid = { ...order, expires: 'soon' };
    assert.equal((await world.api(finance.token, 'POST', '/coupons', invalid)).status, 400);
    const held = await world.api(finance.token, 'POST', '/coupons', order);
    assert.equal(held.status, 202, JSON.stringify(held.body));
    const customer = await world.customer();
    await refusal(customer, 'LARGE', /No coupon has this code/);
    const code = await world.code(owner);
    const done = await world.api(owner.token, 'POST', `/approvals/${held.body.id}/approve`, { code });
    assert.equal(done.body.state, 'done', JSON.stringify(done.body));
    assert.ok(isRedeemed(await redeem(customer, 'LARGE')));
  });
});
