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

  async function search(typed: string, panel = world.panel): Promise<string> {
    const page = await panel.get(`/search?${new URLSearchParams({ q: typed })}`);
    assert.equal(page.status, 200, typed);
    return page.text;
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
      '\u0000',
      '::1',
      'fe80::1%eth0',
    ])
      assert.ok(!(await search(typed)).includes('<b>x'), typed);
  });
});
