/** The list's order, the power menu of a server, and power actions on several servers. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId } from '../../../src/kernel/ids.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

const ORDER = { product: 'vps', plan: 's1', region: 'par', os: 'debian-12', billing: 1 };

let world: World;
let customer: SessionClient;
let panel: PanelClient;
let otherCustomer: PanelClient;
let api: V1Client;

before(async () => {
  world = await startWorld({ SKERRY_RATE_CAPACITY: '1000' });
  customer = await world.customer();
  await world.addBalance(customer, 10_000n);
  panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  otherCustomer = PanelClient.forUrl(world.url, { cookie: (await world.customer()).cookie });
  for (const region of ['par', 'par', 'zrh']) {
    await customer.post('/deploy-api.php', {
      ...ORDER,
      region,
      root_password: 'a long enough one',
    });
  }
  await world.settle();
  api = V1Client.forUrl(world.url, await createApiToken(customer));
});
after(() => world.close());

describe('several servers at once', () => {
  it('the server list sorts by name and age, and keeps its filters', async () => {
    const names = async (query: string) =>
      [...(await panel.open(`/servers${query}`)).text.matchAll(/\/servers\/(srv_\w+)">/g)].map(
        ([, found]) => found,
      );
    const newest = await names('');
    assert.deepEqual(await names('?sort=created_at'), newest.toReversed());
    const byName = await names('?sort=name');
    assert.deepEqual(await names('?sort=-name'), byName.toReversed());
    assert.deepEqual(await names('?sort=price'), newest);
    const filtered = await panel.open('/servers?region=par&size=1&sort=name');
    assert.match(
      filtered.text,
      /aria-sort="ascending"><a href="\/servers\?region=par&#38;sort=-name&#38;size=1">/,
    );
    const [, next = ''] = /<a href="([^"]+)" rel="next">/.exec(filtered.text) ?? [];
    assert.match(next, /sort=name/);
  });

  it('selected servers restart after a question, and each result is reported', async () => {
    const list = await panel.open('/servers');
    const [first = '', second = ''] = [...list.text.matchAll(/name="(server\.srv_\w+)"/g)].map(
      ([, box]) => box,
    );
    const never = formatId('server', newId(new Date()));
    const asked = await panel.open(`/servers?bulk=reboot&${first}=on&${second}=on&server.${never}=on`);
    assert.match(textOf(asked.text), /Restart 2 servers\? .*Asks the operating system to shut down/);
    const { body: before } = await api.get('/audit/events?action=server.reboot');
    const done = await panel.submit(asked, 'reboot');
    assert.equal(done.status, 200);
    assert.equal(textOf(done.text).match(/s1-\w+ ?: restarting/g)?.length, 2);
    const { body: after } = await api.get('/audit/events?action=server.reboot');
    assert.equal(after.data.length - before.data.length, 2);
    await world.settle();
    const off = await panel.submit(await panel.open(`/servers?bulk=start&${first}=on`), 'start');
    assert.match(textOf(off.text), /s1-\w+ ?: .*running/);
    const foreign = await otherCustomer.open(`/servers?bulk=stop&${first}=on`);
    assert.match(foreign.text, /You have no servers yet/);
  });
});

describe('the power menu', () => {
  it('everything in the power menu that interrupts a server says what happens and asks first', async () => {
    const [page = ''] = /\/servers\/srv_\w+/.exec((await panel.open('/servers')).text) ?? [];
    const { text } = await panel.open(page);
    const [, menu = ''] = /<details class="menu">(.*)<\/details>\s*<\/div>/s.exec(text) ?? [];
    const asked = [...menu.matchAll(/<details><summary>([^<]+)…<\/summary>(.*?)<\/details>/gs)];
    assert.deepEqual(
      asked.map(([, title, item = '']) => [title, /name="_form" value="(\w+)"/.exec(item)?.[1]]),
      [
        ['Restart', 'reboot'],
        ['Shut down', 'stop'],
        ['Force restart', 'reset'],
      ],
    );
    assert.match(textOf(menu), /Cuts the power immediately.* Unsaved data is lost\..* Force restart server/);
    const outside = text.replace(menu, '');
    assert.doesNotMatch(outside, /name="_form" value="(?:reboot|stop|reset)"/);
  });
});
