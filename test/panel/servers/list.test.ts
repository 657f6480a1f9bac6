/** The server list without scripts: sorting, saved filters, addresses, row actions, and bulk actions. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { LIMITS } from '../../../src/spec/limits.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

let world: World;
let customer: SessionClient;
let panel: PanelClient;
let stranger: PanelClient;
let api: V1Client;
/** Three servers, oldest first; the last one is stopped. */
let servers: readonly { readonly id: string; readonly ip: string }[];

before(async () => {
  world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  customer = await world.customer();
  await world.addBalance(customer, 10_000n);
  panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  stranger = PanelClient.forUrl(world.url, { cookie: (await world.customer()).cookie });
  for (const region of ['par', 'par', 'zrh'])
    await customer.post('/deploy-api.php', { ...ORDER, region, root_password: 'a long enough one' });
  await world.settle();
  api = V1Client.forUrl(world.url, await createApiToken(customer));
  const { body } = await api.get('/servers?sort=created_at');
  servers = body.data.map((each: { id: string; ipv4: { address: string } }) => ({
    id: each.id,
    ip: each.ipv4.address,
  }));
  await api.post(`/servers/${servers[2]?.id}/stop`);
  await world.settle();
});
after(() => world.close());

const idsOf = (text: string) =>
  [...text.matchAll(/<th scope="row"><input[^>]*name="server\.(srv_\w+)"/g)].map(([, id]) => id);
const list = async (query: string) => idsOf((await panel.open(`/servers${query}`)).text);
const box = (index: number) => `server.${servers[index]?.id}=on`;
const linkOf = (text: string, name: string) =>
  new RegExp(`<a href="([^"]+)"[^>]*>${name}</a>`).exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';

describe('sorting the server list', () => {
  it('every header but address and price sorts the list, and its link reverses the order', async () => {
    const [first, second, third] = servers.map(({ id }) => id);
    assert.deepEqual((await list('?sort=status')).at(-1), third);
    assert.deepEqual((await list('?sort=-status'))[0], third);
    assert.deepEqual((await list('?sort=region')).at(-1), third);
    assert.deepEqual(await list('?sort=created_at'), [first, second, third]);
    assert.deepEqual((await list('?sort=paid_until')).length, 3);
    const plain = (await panel.open('/servers')).text;
    for (const name of ['Name', 'Status', 'Region', 'Plan', 'Created', 'Paid until'])
      assert.ok(linkOf(plain, name), `${name} has no link`);
    assert.equal(plain.match(/aria-sort=/g)?.length, 1);
    assert.match(plain, /aria-sort="descending"><a href="\/servers\?sort=created_at">Created/);
    const byStatus = await panel.open(linkOf(plain, 'Status'));
    assert.match(byStatus.text, /aria-sort="ascending"><a href="\/servers\?sort=-status">Status/);
  });

  it('pages of a list sorted by status neither repeat nor miss a server', async () => {
    const seen: (string | undefined)[] = [];
    for (let path = '/servers?sort=status&size=1'; path !== ''; ) {
      const { text } = await panel.open(path);
      seen.push(...idsOf(text));
      path = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? '';
    }
    assert.deepEqual(seen, await list('?sort=status'));
  });

  it('a new filter keeps the sort order and the size of the page', async () => {
    const { text } = await panel.open('/servers?sort=-name&size=2');
    assert.match(text, /<input type="hidden" name="sort" value="-name">/);
    assert.match(text, /<input type="hidden" name="size" value="2">/);
  });
});

describe('a saved filter', () => {
  it('keeps filters and sort order under a name, and is replaced, opened, and deleted', async () => {
    const filtered = await panel.open('/servers?status=running&sort=name&size=2');
    const saved = await panel.submit(filtered, 'save_filter', { name: 'Up <now>' });
    const opened = await panel.followRedirects(saved);
    assert.match(textOf(opened.text), /Filter saved\. .*Saved filters: Up <now>/);
    const link = linkOf((await panel.open('/servers')).text, 'Up &#60;now&#62;');
    assert.equal(link, '/servers?status=running&sort=name&size=2');
    assert.equal((await list(link.replace('/servers', ''))).length, 2);
    const other = await panel.open('/servers?region=zrh');
    await panel.submit(other, 'save_filter', { name: 'Up <now>' });
    const changed = await panel.open('/servers');
    assert.equal(linkOf(changed.text, 'Up &#60;now&#62;'), '/servers?region=zrh');
    assert.doesNotMatch((await stranger.open('/servers?region=zrh')).text, /Up &#60;now/);
    const key = /name="key" value="(flt_\w+)">Delete Up/.exec(changed.text)?.[1] ?? '';
    const theft = await stranger.submit(await stranger.open('/servers?region=zrh'), 'save_filter', {
      name: 'x',
    });
    const mine = await stranger.followRedirects(theft);
    const own = /name="key" value="(flt_\w+)">/.exec(mine.text)?.[1] ?? '';
    const forged = { ...mine, text: mine.text.replaceAll(own, key) };
    assert.equal((await stranger.submit(forged, 'delete_filter', {}, { button: ['key', key] })).status, 404);
    await panel.submit(changed, 'delete_filter', {}, { button: ['key', key] });
    assert.doesNotMatch((await panel.open('/servers')).text, /Saved filters/);
    const { body } = await api.get('/audit/events?action=saved_filter.delete');
    assert.equal(body.data.length, 1);
  });

  it('an account has a bounded number of them', async () => {
    const page = await panel.open('/servers?sort=name');
    const save = async (name: string) => {
      const fresh = await panel.open(`/servers?sort=name&tag=${name}`);
      return await panel.submit(fresh, 'save_filter', { name });
    };
    for (let n = 0; n < LIMITS.savedFiltersMax; n += 1) assert.equal((await save(`f${n}`)).status, 303);
    const refused = await save('more');
    assert.equal(refused.status, 422);
    assert.match(textOf(refused.text), /at most 20 saved filters; delete one first/);
    const unnamed = await panel.submit(page, 'save_filter', { name: ' ' });
    assert.equal(unnamed.status, 400);
    await world.opened.db.run('delete from saved_filters');
  });
});

describe('addresses of the server list', () => {
  it('one address per line, of the selection or of all that match the filter', async () => {
    const text = async (query: string) => (await panel.get(`/servers/addresses${query}`)).text;
    const ips = servers.map(({ ip }) => ip);
    assert.equal(await text('?sort=created_at'), `${ips.join('\n')}\n`);
    assert.equal(await text('?region=zrh'), `${ips[2]}\n`);
    assert.equal(await text(`?region=par&selected=yes&${box(1)}`), `${ips[1]}\n`);
    assert.equal(await text('?selected=yes'), 'No server is selected.\n');
    const response = await panel.get('/servers/addresses');
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal((await stranger.get(`/servers/addresses?${box(1)}`)).text, 'No addresses.\n');
    const visitor = await PanelClient.forUrl(world.url).get('/servers/addresses');
    assert.equal(visitor.status, 303);
    const { text: page } = await panel.open('/servers?region=par&sort=name');
    assert.equal(linkOf(page, 'Copy all addresses'), '/servers/addresses?region=par&sort=name');
    assert.match(page, new RegExp(`<code class="copy" data-copy>${ips[0]}</code>`));
  });
});

describe('the actions of a row', () => {
  it('each row offers the actions that its status allows, and asks before the power changes', async () => {
    const { text } = await panel.open('/servers?sort=created_at');
    const menus = [...text.matchAll(/<details class="drop">(.*?)<\/details>/gs)].map(([, menu = '']) => menu);
    assert.deepEqual(menus.map(textOf), [
      'Actions Open console Restart… Shut down… Open server',
      'Actions Open console Restart… Shut down… Open server',
      'Actions Power on… Open server',
    ]);
    const asked = await panel.open(linkOf(menus[0] ?? '', 'Restart…'));
    assert.match(textOf(asked.text), /Restart 1 server\?/);
    assert.equal(linkOf(asked.text, 'Cancel'), `/servers?sort=created_at&${box(0)}`);
  });

  it('a button of a row opens the console of its server', async () => {
    const id = servers[1]?.id ?? '';
    const page = await panel.open('/servers');
    assert.match(page.text, new RegExp(`form="row-console" name="key" value="${id}"`));
    const opened = await panel.submit(page, 'console', {}, { button: ['key', id] });
    assert.match(opened.location ?? '', new RegExp(`^/console\\?.*server=${id}`));
  });
});

describe('a bulk action', () => {
  it('without a selection says so, and keeps filters, sort order, and page', async () => {
    const { text } = await panel.open('/servers?bulk=stop&status=running&sort=name&size=2');
    assert.match(textOf(text), /No server is selected\. .*choose “Shut down” again/);
    assert.match(text, /<option value="running" selected>/);
    assert.match(text, /aria-sort="ascending"><a [^>]*>Name/);
    const form = /<form[^>]*id="bulk"[^>]*>(.*?)<\/form>/s.exec(text)?.[1] ?? '';
    for (const [name, value] of [
      ['status', 'running'],
      ['sort', 'name'],
      ['size', '2'],
    ])
      assert.ok(form.includes(`name="${name}" value="${value}"`), name);
  });

  it('its question and its results keep the list, and refused servers stay selected', async () => {
    const asked = await panel.open(`/servers?bulk=start&sort=created_at&size=3&${box(0)}&${box(2)}`);
    const done = await panel.submit(asked, 'start');
    assert.match(textOf(done.text), /: .*running.*: powering on/);
    assert.match(done.text, /aria-sort="ascending"><a [^>]*>Created/);
    assert.deepEqual(
      [...done.text.matchAll(/name="server\.(srv_\w+)"\s+aria-label="[^"]*" checked/g)].map(([, id]) => id),
      [servers[0]?.id],
    );
    const { body } = await api.get('/audit/events?action=server.start&page_size=2');
    const rows = body.data.map((row: { resource: string; result: string }) => [row.resource, row.result]);
    assert.deepEqual(
      rows.toSorted(),
      [
        [servers[0]?.id, 'error'],
        [servers[2]?.id, 'ok'],
      ].toSorted(),
    );
    await world.settle();
  });

  it('a refused submit shows the question again with its selection', async () => {
    const asked = await panel.open(`/servers?bulk=reboot&sort=name&${box(0)}&${box(1)}`);
    const text = asked.text.replaceAll(/name="_token" value="[^"]*"/g, 'name="_token" value="stale"');
    const refused = await panel.submit({ ...asked, text }, 'reboot');
    assert.equal(refused.status, 403);
    assert.match(textOf(refused.text), /Restart 2 servers\?/);
    const done = await panel.submit(refused, 'reboot');
    assert.equal(textOf(done.text).match(/: restarting/g)?.length, 2);
    await world.settle();
  });
});
