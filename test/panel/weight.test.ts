import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpWorld, startHttpWorld } from '../http/http-world.ts';
import { PanelClient } from '../support/panel-client.ts';
import { FULL_ONLY, IS_FULL_RUN } from '../support/runs.ts';
import type { SessionClient } from '../support/session-client.ts';
import { createApiToken, V1Client } from '../support/v1-client.ts';
import { expectSuccess, publicKey } from './support/estate.ts';
import { examplesOf, plainExamples } from './support/examples.ts';
import { type PanelWorld, startPanelWorld } from './support/world.ts';

/** The size of the HTML alone, uncompressed, without pictures and assets. */
const MAX_BYTES = 60_000;
const ROWS = 100;
const NAME = 'a name of sixty-three characters, which is the maximum length !';

function bytesOf(page: { readonly text: string }): number {
  return Buffer.byteLength(page.text);
}

describe('the weight of a page', () => {
  let world: HttpWorld;
  let customer: SessionClient;
  let panel: PanelClient;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    customer = await world.customer();
    panel = PanelClient.forApp(world.app, { cookie: customer.cookie });
    api = V1Client.forApp(world.app, await createApiToken(customer));
  });
  after(() => world?.close());

  async function weigh(path: string): Promise<void> {
    const page = await panel.get(path);
    assert.equal(page.status, 200, path);
    assert.ok(bytesOf(page) < MAX_BYTES, `${path}: ${bytesOf(page)} bytes`);
  }

  it('pages of an empty account are small', async () => {
    const inside = plainExamples().filter(({ visitor, page }) => !visitor && page.redirect === undefined);
    for (const { path } of inside) await weigh(path);
  });

  it('lists are small with as many resources as an account can have', async () => {
    const name = NAME.slice(0, 60);
    for (let row = 0; row < ROWS; row += 1) {
      expectSuccess(await api.post('/ssh-keys', { name: `${name}${row}`, public_key: publicKey(row, 'x') }));
      expectSuccess(await api.post('/volumes', { name: `${name}${row}`, size_gb: 10, region: 'par' }));
      if (row < 49)
        expectSuccess(await api.post('/firewall/groups', { name: `${name}${row}`, default_action: 'drop' }));
    }
    for (const path of ['/keys', '/volumes', '/firewall', '/servers/new', '/account/audit'])
      await weigh(path);
  });

  it('a firewall group with a hundred rules is small', async () => {
    const rule = {
      direction: 'in',
      proto: 'tcp',
      source: '2001:db8:1234:5678::/64',
      action: 'accept',
      port: '80,443,8080,8443',
      note: 'the office, on Mondays',
    };
    const rules = Array.from({ length: ROWS }, () => rule);
    const body = { name: 'long', default_action: 'drop', rules };
    const group = expectSuccess(await api.post('/firewall/groups', body));
    await weigh(`/firewall/${group.id}`);
    await weigh(`/firewall/${group.id}/settings`);
  });
});

describe('the weight of every page', FULL_ONLY, () => {
  let world: PanelWorld;
  before(async () => {
    if (IS_FULL_RUN) world = await startPanelWorld();
  });
  after(() => world?.close());

  it('every page is small for a customer with all resources', async () => {
    const heavy: string[] = [];
    const outside = PanelClient.forUrl(world.url);
    for (const { path, visitor } of examplesOf(world)) {
      const page = await (visitor ? outside : world.panel).get(path);
      if (bytesOf(page) >= MAX_BYTES || page.status !== 200)
        heavy.push(`${path}: ${page.status}, ${bytesOf(page)} bytes`);
    }
    assert.deepEqual(heavy, []);
  });
});
