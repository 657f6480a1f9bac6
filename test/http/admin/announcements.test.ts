import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DAY_MS, HOUR_MS } from '../../../src/kernel/time.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { fill, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

describe('announcements', () => {
  let world: StaffWorld;
  let support: Person;
  let customer: SessionClient;

  before(async () => {
    world = await startStaffWorld();
    support = await world.person('support');
    customer = await world.customer(80);
    const order = { product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 };
    const ordered = await customer.post('/deploy-api.php', { ...order, root_password: 'a root password' });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
  });
  after(() => world.close());

  const panelOf = ({ cookie }: SessionClient) => PanelClient.forUrl(world.url, { cookie });
  const inMs = (ms: number) => new Date(world.opened.clock.now().getTime() + ms).toISOString();
  const post = (path: string, body: object) =>
    world.api(support.token, 'POST', `/announcements${path}`, body);
  const publish = async (title: string, more: object = {}): Promise<string> => {
    const made = await post('', { title, text: 'Text of it.', until: inMs(30 * DAY_MS), ...more });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return String(made.body.id);
  };
  const sees = async (client: PanelClient, title: string, path = '/servers') =>
    textOf((await client.get(path)).text).includes(title);

  it('are above every page of customers until they are dismissed', async () => {
    const id = await publish('Faster disks', { link: '/status', level: 'warning' });
    const panel = panelOf(customer);
    const other = panelOf(await world.customer());
    const visitor = PanelClient.forUrl(world.url);
    for (const path of ['/servers', '/billing', '/account', '/announcements']) {
      assert.ok(await sees(panel, 'Faster disks Text of it. Read more', path), path);
    }
    assert.ok(!(await sees(visitor, 'Faster disks', '/')));
    const page = await panel.get('/servers?sort=name&done=saved');
    const done = await panel.submit(page, 'dismiss', {});
    assert.equal(done.location, '/servers?sort=name', done.text);
    assert.ok(!(await sees(panel, 'Faster disks')));
    assert.match(textOf((await panel.get('/announcements')).text), /Faster disks Since .* You dismissed it/);
    assert.ok(await sees(other, 'Faster disks'));
    await post(`/${id}/end`, {});
    assert.ok(!(await sees(other, 'Faster disks')));
    assert.match(textOf((await other.get('/announcements')).text), /There is nothing to announce now/);
  });

  it('return only to a page of the panel after they were dismissed', async () => {
    const id = await publish('Elsewhere');
    const panel = panelOf(customer);
    const done = await fill(panel, '/servers', 'dismiss', { back: 'https://evil.example//x' });
    assert.equal(done.location, '/announcements');
    await post(`/${id}/end`, {});
  });

  it('about a region are for customers with a server there', async () => {
    const [without, panel] = [panelOf(await world.customer()), panelOf(customer)];
    const id = await publish('New uplink in Paris', { region: 'par' });
    assert.ok(await sees(panel, 'New uplink in Paris'));
    assert.ok(!(await sees(without, 'New uplink in Paris')));
    const moved = await post(`/${id}/change`, { region: '' });
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
    assert.ok(await sees(without, 'New uplink in Paris'));
    await post(`/${id}/end`, {});
  });

  it('for everyone are on the pages of visitors, who cannot dismiss them', async () => {
    const id = await publish('We moved', { audience: 'everyone' });
    const visitor = PanelClient.forUrl(world.url);
    assert.ok(await sees(visitor, 'We moved', '/'));
    assert.ok(!(await sees(visitor, 'Dismiss', '/plans')));
    await post(`/${id}/end`, {});
    assert.ok(!(await sees(visitor, 'We moved', '/')));
  });

  it('show a page no more than three, and lead to the others', async () => {
    const ids = [];
    for (const title of ['One', 'Two', 'Three', 'Four']) ids.push(await publish(`Number ${title}`));
    const panel = panelOf(customer);
    const text = textOf((await panel.get('/servers')).text);
    assert.match(text, /Number Four.*Number Three.*Number Two.*All announcements/);
    assert.ok(!text.includes('Number One'));
    for (const id of ids) await post(`/${id}/end`, {});
  });

  it('show hostile text as it was written', async () => {
    const hostile = '<script>alert(1)</script> & "x"';
    const id = await publish(hostile, { text: hostile, link: "https://host.example/?a='><b>" });
    const { text } = await panelOf(customer).get('/servers');
    assert.ok(!text.includes('<script>alert'));
    assert.ok(textOf(text).includes(hostile));
    assert.ok(!text.includes("'><b>"));
    assert.ok(!(await support.browser.get(`/announcements/${id}`)).text.includes('<script>alert'));
    await post(`/${id}/end`, {});
  });

  it('are refused with what is wrong', async () => {
    const until = inMs(DAY_MS);
    const refused: readonly (readonly [field: string, body: object])[] = [
      ['title', { title: 'x'.repeat(121), text: 'x', until }],
      ['text', { title: 'x', text: 'x'.repeat(601), until }],
      ['until', { title: 'x', text: 'x', until: inMs(-DAY_MS) }],
      ['until', { title: 'x', text: 'x', until: inMs(400 * DAY_MS) }],
      ['until', { title: 'x', text: 'x', until: inMs(DAY_MS), from: inMs(2 * DAY_MS) }],
      ['link', { title: 'x', text: 'x', until, link: 'javascript:alert(1)' }],
      ['link', { title: 'x', text: 'x', until, link: '//evil.example' }],
      ['audience', { title: 'x', text: 'x', until, region: 'par', audience: 'everyone' }],
    ];
    for (const [field, body] of refused) {
      const answer = await post('', body);
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.ok(JSON.stringify(answer.body).includes(`"${field}"`), JSON.stringify(answer.body));
    }
    const region = await post('', { title: 'x', text: 'x', until, region: 'nowhere' });
    assert.match(JSON.stringify(region.body), /Region nowhere not found/);
  });

  it('are published, changed, and ended in the console', async () => {
    const made = await fill(support.browser, '/announcements', 'announcements.create', {
      ...{ title: 'Office closed', text: 'On Monday.', until: inMs(DAY_MS) },
    });
    const path = made.location?.split('?')[0] ?? '';
    assert.match(path, /^\/announcements\/ann_\w{26}$/, made.text);
    await fill(support.browser, path, 'announcements.change', { text: 'On Tuesday.' });
    assert.match(textOf((await support.browser.get(path)).text), /Office closed shown.*On Tuesday\./);
    assert.ok(await sees(panelOf(customer), 'Office closed On Tuesday.'));
    const ended = await fill(support.browser, path, 'announcements.end', {});
    assert.match(ended.location ?? '', /done=saved/, ended.text);
    assert.equal((await post(`${path.replace('/announcements', '')}/end`, {})).status, 409);
    const log = await world.api(support.token, 'GET', '/staff_log?operation=announcements.end');
    const targets = (log.body.data as { target: string }[]).map(({ target }) => target);
    assert.ok(
      targets.some((target) => path.endsWith(target)),
      targets.join(),
    );
  });

  it('begin and end by the clock', async () => {
    const panel = panelOf(customer);
    await publish('From tomorrow', { from: inMs(DAY_MS), until: inMs(2 * DAY_MS) });
    assert.ok(!(await sees(panel, 'From tomorrow')));
    await world.advance(DAY_MS / 1_000 - 60);
    assert.ok(!(await sees(panelOf(customer), 'From tomorrow')));
    await customer.signIn();
    await world.advance(120);
    assert.ok(await sees(panelOf(customer), 'From tomorrow'));
    await world.advance((DAY_MS - HOUR_MS) / 1_000);
    await customer.signIn();
    assert.ok(await sees(panelOf(customer), 'From tomorrow'));
    await world.advance((2 * HOUR_MS) / 1_000);
    assert.ok(!(await sees(panelOf(customer), 'From tomorrow')));
  });
});
