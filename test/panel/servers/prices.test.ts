/** Prices in the panel: nothing above them is charged, and they are those of quotes. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseId } from '../../../src/kernel/ids.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

let world: World;
let customer: SessionClient;
let panel: PanelClient;
let api: V1Client;

before(async () => {
  world = await startWorld({ SKERRY_RATE_CAPACITY: '1000', SKERRY_QUOTAS: 'servers=2' });
  customer = await world.customer();
  await world.addBalance(customer, 10_000n);
  panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  api = V1Client.forUrl(world.url, await createApiToken(customer));
});
after(() => world.close());

async function order(): Promise<{ readonly id: string; readonly price: number }> {
  const deployed = await customer.post('/deploy-api.php', { ...ORDER, root_password: 'a long enough one' });
  assert.equal(deployed.body.ok, true);
  const [server] = (await api.get('/servers')).body.data;
  return { id: server.id, price: server.price_usd_cycle };
}

const quoteOf = async (operation: string, resource: string) =>
  (await api.post('/quotes', { operation, resource })).body;

describe('prices of operations in the panel', () => {
  it('a server that has never run says what deleting it returns', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    const { id } = await order();
    const { credit_usd } = await quoteOf('server.delete', id);
    const { text } = await panel.open(`/servers/${id}/settings`);
    assert.match(textOf(text), new RegExp(`never run, so we refund \\$${credit_usd.toFixed(2)} `));
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.settle();
    const ran = textOf((await panel.open(`/servers/${id}/settings`)).text);
    assert.match(ran, /We don’t refund the current cycle/);
  });

  it('powering on a suspended server charges at most the price that its page showed', async () => {
    const { id, price } = await order();
    await world.settle();
    // A month later, the session would have ended.
    await world.opened.db.run(
      `update servers set status = 'suspended', suspended_reason = 'not_renewed', auto_renew = false,
                          suspended_at = now(), resume_to = 'running', paid_until = created_at,
                          destroy_at = now() + interval '14 days', bill_at = null
        where id = $1`,
      [parseId('server', id)],
    );
    const page = await panel.open(`/servers/${id}`);
    const { due_now_usd } = await quoteOf('server.start', id);
    assert.equal(due_now_usd, price);
    assert.match(textOf(page.text), new RegExp(`Powering it on charges \\$${price.toFixed(2)} for 1 month`));
    await world.opened.db.run(`update servers set price_cents_cycle = price_cents_cycle + 100`);
    const before = (await api.get('/billing/ledger')).body.data.length;
    const dearer = await panel.submit(page, 'start', {});
    assert.equal(dearer.status, 409);
    assert.match(
      textOf(dearer.text),
      new RegExp(`This costs \\$${(price + 1).toFixed(2)} now, .* Nothing was`),
    );
    assert.equal((await api.get('/billing/ledger')).body.data.length, before);
    const again = await panel.submit(await panel.open(`/servers/${id}`), 'start', {});
    assert.match(again.location ?? '', /done=server_starting/);
    const [charge] = (await api.get('/billing/ledger')).body.data;
    assert.equal(charge.amount_usd, -(price + 1));
    await world.settle();
  });

  it('a resize charges at most the price that its page showed', async () => {
    const [{ id }] = (await api.get('/servers')).body.data;
    const page = await panel.open(`/servers/${id}/resize`);
    const params = { plan: 's2', restart: true };
    const { body: quote } = await api.post('/quotes', { operation: 'server.resize', resource: id, params });
    const price = quote.due_now_usd.toFixed(2);
    assert.match(textOf(page.text), new RegExp(`s2 .* \\$${price} \\$\\d`));
    const refused = await panel.submit(page, 'resize', { plan: 's2' });
    assert.deepEqual([refused.status, /restarts for a resize/.test(textOf(refused.text))], [409, true]);
    await world.opened.db.run(`update plans set price_cents_month = price_cents_month + 500 where id = 's2'`);
    const dearer = await panel.submit(page, 'resize', { plan: 's2', restart: 'on' });
    assert.equal(dearer.status, 409);
    assert.match(textOf(dearer.text), /This costs \$[\d.]+ now, .* Nothing was/);
    await world.opened.db.run(`update plans set price_cents_month = price_cents_month - 500 where id = 's2'`);
    const again = await panel.submit(await panel.open(`/servers/${id}/resize`), 'resize', {
      plan: 's2',
      restart: 'on',
    });
    assert.match(again.location ?? '', /done=server_resizing/);
    const [charge] = (await api.get('/billing/ledger')).body.data;
    assert.equal((-charge.amount_usd).toFixed(2), price);
    await world.settle();
    assert.equal((await api.get(`/servers/${id}`)).body.plan, 's2');
  });

  it('turning on backups charges at most the price that its page showed', async () => {
    const [{ id, plan }] = (await api.get('/servers')).body.data;
    const setShare = (percent: number) =>
      world.opened.db.run('update plans set backup_percent = $1 where id = $2', [percent, plan]);
    const path = `/servers/${id}/storage`;
    await setShare(20);
    const { price_usd_cycle: cycle, price_usd_now: now } = (await api.get(`/servers/${id}/backup-policy`))
      .body;
    const page = await panel.open(path);
    const shown = `They cost \\$${cycle.toFixed(2)} for 1 month, and \\$${now.toFixed(2)} now`;
    assert.match(textOf(page.text), new RegExp(shown));
    await setShare(30);
    const dearer = await panel.submit(page, 'backups', { enabled: 'on' });
    assert.equal(dearer.status, 409);
    await setShare(20);
    const again = await panel.submit(await panel.open(path), 'backups', { enabled: 'on' });
    assert.match(again.location ?? '', /done=saved/);
    const [charge] = (await api.get('/billing/ledger')).body.data;
    assert.equal(charge.amount_usd, -now);
    assert.match(textOf((await panel.open(path)).text), /as a part of the price of the server/);
    const total = await panel.open(`/servers/new?plan=${plan}&region=par&backups=on`);
    assert.match(textOf(total.text), new RegExp(`Backups \\$${cycle.toFixed(2)}`));
  });

  it('the total of an order says why the order would be refused', async () => {
    const { text } = await panel.open('/servers/new?plan=s1&region=par');
    assert.match(text, /<p class="problem">An account can have at most 2 servers; delete one first\.<\/p>/);
  });
});
