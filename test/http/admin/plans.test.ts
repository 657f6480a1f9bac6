import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setApprovalRule } from '../../../src/domain/staff/approval-rules.ts';
import { measureFigures } from '../../../src/domain/staff/figures.ts';
import { textOf } from '../../support/panel-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface Plan {
  readonly id: string;
  readonly price_usd: number;
  readonly servers: number;
  readonly customers: number;
  readonly monthly_usd: number;
  readonly announced: readonly { readonly id: string; readonly state: string; readonly price_usd: number }[];
  readonly preview: Readonly<Record<string, number>> | null;
}

describe('plans and prices in the console', () => {
  let world: StaffWorld;
  let finance: Person;
  let first: number;

  before(async () => {
    world = await startStaffWorld();
    finance = await world.person('finance');
    for (const count of [1, 2]) {
      const customer = await world.customer(80);
      for (let index = 0; index < count; index += 1) {
        const ordered = await customer.post('/deploy-api.php', {
          ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 },
          root_password: 'a root password',
        });
        assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
      }
    }
    await world.settle();
    first = (await plan()).price_usd;
  });
  after(() => world.close());

  const plan = async (query = ''): Promise<Plan> => {
    const { status, body } = await world.api(finance.token, 'GET', `/plans/s1${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Plan;
  };
  const NEW = '?price_usd=12.50';

  it('shows the catalog, and who pays for a plan as of the last count', async () => {
    for await (const _ of measureFigures(world.opened.service));
    const { body } = await world.api(finance.token, 'GET', '/plans');
    const rows = body.data as Plan[];
    const shown = rows.find(({ id }) => id === 's1');
    assert.partialDeepStrictEqual(shown, { servers: 3, customers: 2 });
    assert.match(String((shown as { counted_at?: string }).counted_at), /^\d{4}-.*Z$/);
    assert.equal(shown?.monthly_usd, Math.round(first * 300) / 100);
    assert.equal(rows.find(({ id }) => id === 's2')?.servers, 0);
    const regions = await world.api(finance.token, 'GET', '/regions');
    assert.ok((regions.body.data as { id: string }[]).some(({ id }) => id === 'par'));
    assert.equal((await world.api(finance.token, 'GET', '/plans/none')).status, 400);
  });

  it('previews a price, and changes nothing', async () => {
    const { preview, price_usd: price } = await plan(NEW);
    assert.equal(price, first);
    const effect = { price_usd: 12.5, servers: 3, customers: 2, new_monthly_usd: 37.5 };
    assert.partialDeepStrictEqual(preview, effect);
    assert.equal((await plan(`?price_usd=${first}`)).preview?.servers, 0);
    assert.equal((await world.api(finance.token, 'GET', '/plans/s1?price_usd=free')).status, 400);
    const { text } = await finance.browser.get(`/plans/s1${NEW}`);
    assert.match(textOf(text), /Effect of the new price/);
    assert.doesNotMatch((await finance.browser.get('/plans/s1')).text, /plans\.set_price/);
  });

  it('changes what new orders cost, and not what existing servers pay', async () => {
    const form = { price_usd: '12.50', was_usd: '1', reason: 'power costs more' };
    const stale = await fill(finance.browser, `/plans/s1${NEW}`, 'plans.set_price', form);
    assert.match(textOf(stale.text), /look at it again/);
    const now = { ...form, was_usd: String(first) };
    const done = await fill(finance.browser, `/plans/s1${NEW}`, 'plans.set_price', now);
    assert.match(done.location ?? '', /done=saved/, done.text);
    const changed = await plan();
    assert.deepEqual([changed.price_usd, changed.monthly_usd], [12.5, Math.round(first * 300) / 100]);
    const log = await world.api(finance.token, 'GET', '/staff_log?operation=plans.set_price');
    const [entry] = log.body.data as { target: string; reason: string }[];
    assert.deepEqual([entry?.target, entry?.reason], ['s1', 'power costs more']);
  });

  it('announces a price to existing servers, and cancels it', async () => {
    const order = { price_usd: '12.50', reason: 'power costs more' };
    const done = await fill(finance.browser, `/plans/s1${NEW}`, 'plans.announce_price', order);
    assert.match(done.location ?? '', /done=saved/, done.text);
    const [announced] = (await plan()).announced;
    assert.partialDeepStrictEqual(announced, { state: 'announced', price_usd: 12.5 });
    const cancel = { announcement: announced?.id, reason: 'a mistake' };
    const other = await world.api(finance.token, 'POST', '/plans/s2/cancel_price', cancel);
    assert.equal(other.status, 400);
    const cancelled = await fill(finance.browser, '/plans/s1', 'plans.cancel_price', {
      ...{ announcement: announced?.id ?? '', reason: 'a mistake' },
    });
    assert.match(cancelled.location ?? '', /done=saved/, cancelled.text);
    assert.equal((await plan()).announced[0]?.state, 'cancelled');
    const support = await world.person('support');
    const refused = await world.api(support.token, 'POST', '/plans/s1/announce_price', order);
    assert.equal(refused.status, 403);
  });

  it('holds a price for a second person, who approves what it was made for', async () => {
    const owner = await world.person('owner');
    await world.api(owner.token, 'POST', '/approval_rules', { operation: 'plans.set_price' });
    const order = { price_usd: '13.00', was_usd: '12.50', reason: 'power costs more' };
    const held = await world.api(finance.token, 'POST', '/plans/s1/set_price', order);
    assert.equal(held.status, 202, JSON.stringify(held.body));
    assert.equal((await plan()).price_usd, 12.5);
    const code = await world.code(owner);
    const done = await world.api(owner.token, 'POST', `/approvals/${held.body.id}/approve`, { code });
    assert.equal(done.body.state, 'done', JSON.stringify(done.body));
    assert.equal((await plan()).price_usd, 13);
  });

  it('compares the difference for all servers of the plan with the amount of a rule', async () => {
    const { servers } = await plan();
    assert.ok(servers > 1, String(servers));
    const rule = { operation: 'plans.set_price', over_usd: (servers * 0.5).toFixed(2) };
    await setApprovalRule(world.opened.service, rule);
    const price = (to: string, was: string) =>
      world.api(finance.token, 'POST', '/plans/s1/set_price', { price_usd: to, was_usd: was, reason: 'x' });
    assert.equal((await price('12.49', '13.00')).status, 202);
    assert.equal((await price('13.51', '13.00')).status, 202);
    const done = await price('12.50', '13.00');
    assert.equal(done.status, 200, JSON.stringify(done.body));
  });
});
