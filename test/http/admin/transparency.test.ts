import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

interface HalfYear {
  readonly half: string;
  readonly current: boolean;
  readonly orders: readonly {
    readonly kind: string;
    readonly received: number;
    readonly states: Readonly<Record<string, number>>;
  }[];
  readonly figures: Readonly<Record<string, number>>;
}

describe('the transparency report', () => {
  let world: StaffWorld;
  let owner: Person;
  let visitor: PanelClient;
  let customers: readonly SessionClient[];

  before(async () => {
    world = await startStaffWorld();
    owner = await world.person('owner');
    visitor = PanelClient.forUrl(world.url);
    customers = [await world.customer(), await world.customer()];
  });
  after(() => world.close());

  const switchTo = async (name: string, state: 'on' | 'off') => {
    const answer = await world.api(owner.token, 'POST', `/switches/${name}`, { state, reason: 'a test' });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const report = async (): Promise<HalfYear[]> =>
    (await world.api(owner.token, 'GET', '/transparency')).body.half_years as HalfYear[];
  const create = async (order: object, end?: object): Promise<void> => {
    const known = { kind: 'information_request', authority: 'Court', reference: 'Secret 9' };
    const made = await world.api(owner.token, 'POST', '/legal-orders', { ...known, ...order });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    if (!end) return;
    const path = `/legal-orders/${made.body.id}/close`;
    const closed = await world.api(owner.token, 'POST', path, { note: 'Done.', ...end });
    assert.equal(closed.status, 200, JSON.stringify(closed.body));
  };

  it('does not exist until its switch is on, and then every page links to it', async () => {
    assert.equal((await visitor.get('/transparency')).status, 404);
    assert.doesNotMatch((await visitor.get('/')).text, /href="\/transparency"/);
    const preview = textOf((await owner.browser.get('/transparency')).text);
    assert.match(preview, /not published .* Legal orders 0 0 0 0 0 0 /s);
    await switchTo('transparency', 'on');
    const page = await visitor.get('/transparency');
    assert.equal(page.status, 200);
    assert.match(textOf(page.text), /Legal orders 0 0 0 0 0 0 /);
    assert.doesNotMatch(page.text, /<script(?! src="[^"]*enhance)/);
    assert.match((await visitor.get('/plans')).text, /href="\/transparency"/);
    assert.match(textOf((await owner.browser.get('/transparency')).text), /Transparency report published/);
  });

  it('an extra that is off is no paused service', async () => {
    assert.match(textOf((await visitor.get('/status')).text), /All systems operational|Coins/);
    assert.doesNotMatch((await visitor.get('/status')).text, /Paused services/);
    const { body } = await world.api(owner.token, 'GET', '/status');
    assert.doesNotMatch(JSON.stringify(body), /transparency/);
  });

  it('counts equal the orders, by the half-year in which they arrived', async () => {
    const [ann, ben] = customers.map(({ email }) => email);
    const now = world.opened.service.clock.now();
    const lastYear = `${now.getUTCFullYear() - 1}-0`;
    const complied = { result: 'complied', data_handed_out: true };
    await create({ customer: ann }, complied);
    await create({ customer: ann });
    await create({ customer: ben }, { result: 'refused' });
    await create({ kind: 'takedown', customer: ben }, { result: 'partly' });
    await create({ kind: 'takedown' }, { result: 'withdrawn' });
    await create({ received: `${lastYear}3-05` }, complied);
    await create({ received: `${lastYear}7-01` });
    await create({ received: '2001-01-01' });
    await create({ customer: ben, gag_until: '2099-01-01' }, complied);
    const rows = await report();
    assert.equal(rows.length, 6);
    const [current, ...earlier] = rows;
    assert.deepEqual(current?.figures, { accounts: 2, servers: 0, handed_out: 1, takedowns: 1 });
    const counts = (half: HalfYear | undefined) =>
      half?.orders.map(({ kind, received, states }) => [kind, received, Object.values(states).join(' ')]);
    assert.deepEqual(counts(current), [
      ['information_request', 3, '1 1 0 1 0'],
      ['takedown', 2, '0 0 1 0 1'],
      ['all', 5, '1 1 1 1 1'],
    ]);
    const received = earlier.map(({ half, orders, figures }) => [
      half,
      orders.at(-1)?.received,
      figures.handed_out,
    ]);
    const year = now.getUTCFullYear() - 1;
    assert.deepEqual(
      received.filter(([, count]) => count !== 0),
      [
        [`${year}-2`, 1, 0],
        [`${year}-1`, 1, 1],
      ],
    );
    const { n } = (await world.opened.db.row<{ n: number }>(
      `select count(*)::int as n from legal_orders
        where received_at > now() - interval '10 years' and gag_until is null`,
    )) ?? { n: -1 };
    assert.equal(
      rows.reduce((sum, { orders }) => sum + (orders.at(-1)?.received ?? 0), 0),
      n,
    );
    const page = textOf((await visitor.get('/transparency')).text);
    assert.match(page, /Information request 3 1 1 0 1 0 .* All 5 1 1 1 1 1/s);
    assert.doesNotMatch(page, /Secret|Court|@/);
  });

  it('leaves out an order under a gag unless a switch counts it', async () => {
    await switchTo('transparency-gagged', 'on');
    const [current] = await report();
    assert.equal(current?.orders.at(-1)?.received, 6);
    assert.equal(current?.figures.handed_out, 2);
    assert.match(textOf((await visitor.get('/transparency')).text), /may not speak about are counted/);
    await switchTo('transparency-gagged', 'off');
    assert.equal((await report())[0]?.orders.at(-1)?.received, 5);
    await switchTo('transparency', 'off');
    assert.equal((await visitor.get('/transparency')).status, 404);
    assert.doesNotMatch((await visitor.get('/plans')).text, /href="\/transparency"/);
  });
});
