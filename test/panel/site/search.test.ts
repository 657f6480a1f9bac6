import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PanelClient } from '../../support/panel-client.ts';
import { type PanelWorld, startPanelWorld } from '../support/world.ts';

/** Each kind that is found: its list in the API, its name there, and the path of its pages. */
const KINDS = [
  ['/servers', 'name', '/servers/'],
  ['/volumes', 'name', '/volumes/'],
  ['/snapshots', 'name', '/snapshots/'],
  ['/images?type=custom', 'name', '/images/'],
  ['/ssh-keys', 'name', '/keys/'],
  ['/firewall/groups', 'name', '/firewall/'],
  ['/webhooks', 'url', '/webhooks/'],
  ['/alerts', 'name', '/alerts/'],
  ['/billing/topup', 'id', '/billing/topups/'],
] as const;

describe('the search of the panel', () => {
  let world: PanelWorld;
  before(async () => {
    world = await startPanelWorld();
  });
  after(() => world?.close());

  /** Returns the page that the search leads to. */
  async function search(typed: string, panel = world.panel): Promise<string> {
    const asked = await panel.submit(await panel.get('/search'), 'find', { q: typed });
    const page = await panel.followRedirects(asked);
    assert.equal(page.status, 200, typed);
    return page.path.startsWith('/search') ? page.text : `<a href="${page.path}">`;
  }
  const finds = async (typed: string, path: string) =>
    assert.ok((await search(typed)).includes(`<a href="${path}">`), `${typed} → ${path}`);

  /** The id and the name of one resource of the list. */
  async function oneOf(list: string, column: string): Promise<{ id: string; name: string }> {
    const [item] = (await world.api.get(list)).body.data;
    assert.ok(item, list);
    return { id: item.id, name: item[column] };
  }

  it('every kind of resource is found by its name, a part of it in any case, and its id', async () => {
    for (const [list, column, path] of KINDS) {
      const { id, name } = await oneOf(list, column);
      await finds(name, `${path}${id}`);
      if (column !== 'id') await finds(name.slice(0, 5).toUpperCase(), `${path}${id}`);
      await finds(id, `${path}${id}`);
    }
  });

  it('a server is found by its addresses, tags, labels, and reverse DNS', async () => {
    const { api, estate } = world;
    const { body: server } = await api.get(`/servers/${estate.running}`);
    const path = `/servers/${estate.running}`;
    await api.patch(path, { tags: ['Shop'], labels: { env: 'Prod' } });
    await api.put(`${path}/rdns`, { address: server.ipv4.address, name: 'mail.example.org' });
    const typed = [server.ipv4.address, server.ipv6.address, server.ipv6.prefix.replace('/64', 'f00d')];
    for (const text of [...typed, 'shop', 'env=prod', 'prod', 'mail.example']) await finds(text, path);
    const part = server.ipv4.address.slice(0, -1);
    assert.ok(!(await search(part)).includes(path), 'a part of an address is none');
  });

  it('a top-up is found by its address and its transaction', async () => {
    const { credited } = world.estate.topups;
    const { body: topup } = await world.api.get(`/billing/topup/${credited}`);
    await finds(topup.deposit_address, `/billing/topups/${credited}`);
    await finds(topup.txids[0], `/billing/topups/${credited}`);
  });

  it('the exact name comes first, then names that begin with the text', async () => {
    const { api } = world;
    const names = ['a-zebra', 'zebra-2', 'Zebra'];
    for (const name of names) await api.post('/firewall/groups', { name, default_action: 'drop' });
    const found = [...(await search('zebra')).matchAll(/href="\/firewall\/fwg_\w+">([^<]+)</g)];
    assert.deepEqual(
      found.map(([, name]) => name),
      ['Zebra', 'zebra-2', 'a-zebra'],
    );
  });

  it('a top-up is shown by its amount and coin', async () => {
    assert.match(await search(world.estate.topups.credited), />\$[\d,]+\.\d\d in \w+</);
  });

  it('nobody else’s resources are found', async () => {
    const stranger = world.visitor();
    await stranger.signUp();
    const panel = PanelClient.forUrl(world.url, { cookie: stranger.cookie });
    for (const [list, column, path] of KINDS) {
      const { id, name } = await oneOf(list, column);
      for (const text of [name, id]) assert.ok(!(await search(text, panel)).includes(`${path}${id}`), text);
    }
  });

  it('pages are found by their words, and the docs are one link away', async () => {
    for (const [typed, path] of [
      ['2fa', '/account/totp'],
      ['deploy', '/servers/new'],
      ['API tok', '/account/tokens'],
    ] as const)
      await finds(typed, path);
    assert.match(await search('refund policy'), /href="\/docs\/search\?q=refund\+policy"/);
  });

  it('an address is never in a URL: it leads to its server, or the results have none', async () => {
    const { panel, estate, api } = world;
    const { body: server } = await api.get(`/servers/${estate.running}`);
    const ask = async (q: string) => await panel.submit(await panel.get('/search'), 'find', { q });
    assert.equal((await ask(server.ipv4.address)).location, `/servers/${estate.running}`);
    for (const unknown of ['203.0.113.9', '203.0.', '2001:db8::7', 'fe80::1%eth0', 'web 203.0.113.9']) {
      const { status, location, text } = await ask(unknown);
      assert.deepEqual([status, location], [200, null], unknown);
      assert.match(text, /No results for/);
      assert.doesNotMatch(text, /(?:href|action)="[^"]*(?:203|2001|fe80)/);
    }
    assert.equal((await ask('web')).location, '/search?q=web');
    assert.equal((await panel.get('/search?q=%00')).status, 200);
  });

  it('the shortcuts of one character can be turned off and on for the account', async () => {
    const { panel } = world;
    const turn = async (word: string) => {
      const page = await panel.get('/search');
      await panel.submit(page, 'shortcuts', {}, { button: ['shortcuts', word] });
      return (await panel.get('/servers')).text;
    };
    assert.match(await turn('off'), /<body class="inside" data-shortcuts="off">/);
    assert.match((await panel.get('/search')).text, /Shortcuts are off, except Ctrl K\./);
    assert.match(await turn('on'), /<body class="inside">/);
  });

  it('text that matches nothing, is too long, or is hostile gets a page', async () => {
    assert.match(await search('xyzzy'), /No results for “xyzzy”/);
    for (const typed of [
      '',
      '   ',
      '%',
      '_',
      "' or 1=1 --",
      '<b>x</b>',
      'a'.repeat(5_000),
      '::1',
      'fe80::1%eth0',
    ])
      assert.ok(!(await search(typed)).includes('<b>x'), typed);
  });
});
