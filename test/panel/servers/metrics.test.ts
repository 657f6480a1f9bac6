/** The load of a server: its charts, their values, and the short form on the overview. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ChartValues } from '../../../src/panel/charts/values.ts';
import { PanelClient, textOf } from '../../support/panel-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { publicKey } from '../support/estate.ts';

describe('the metrics of a server', () => {
  let world: World;
  let panel: PanelClient;
  let page: string;
  before(async () => {
    world = await startWorld();
    const customer = await world.customer(100);
    panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
    const api = V1Client.forUrl(world.url, await createApiToken(customer));
    const key = (await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(1, 'ada') })).body.id;
    const image = (await api.get('/images?family=alpine')).body.data[0].id;
    const order = { plan: 's1', region: 'par', image, ssh_keys: [key], name: 'web-1' };
    page = `/servers/${(await api.post('/servers', order)).body.id}`;
    await world.settle();
    await world.advance(7_200);
  });
  after(() => world?.close());

  const urlOf = (attribute = '') => new URL(attribute.replaceAll('&#38;', '&'), world.url);
  const fetchAsOwner = (url: URL) => fetch(url, { headers: { cookie: `PHPSESSID=${panel.cookie}` } });

  it('metrics are shown as charts and as a table, and only the owner can load the charts', async () => {
    const metrics = await panel.open(`${page}/metrics?period=7d`);
    assert.match(metrics.text, /alt="CPU, .* maximum [^"]*\."/);
    assert.match(textOf(metrics.text), /6-hour averages, newest first From CPU Memory Read/);
    const pictures = [...metrics.text.matchAll(/<img class="chart" src="([^"]+)"/g)];
    assert.equal(pictures.length, 4);
    for (const [, source] of pictures) {
      const picture = await fetchAsOwner(urlOf(source));
      assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png']);
      assert.equal(Buffer.from(await picture.arrayBuffer()).toString('latin1', 1, 4), 'PNG');
      assert.equal((await fetch(urlOf(source))).status, 404);
    }
  });

  it('the last hour has values by the minute, and only the owner can load them', async () => {
    const { text } = await panel.open(`${page}/metrics?period=1h`);
    assert.match(textOf(text), /2-minute averages, newest first From CPU/);
    const url = urlOf(/data-values="([^"]+)"/.exec(text)?.[1]);
    const { names, moments } = (await (await fetchAsOwner(url)).json()) as ChartValues;
    assert.deepEqual(names, ['used']);
    assert.ok(moments.length > 30);
    assert.match(moments.at(-1)?.texts[0] ?? '', /^[\d.]+%$/);
    assert.equal((await fetch(url)).status, 404);
  });

  it('the overview shows the load of the last hour, and the transfer of the month', async () => {
    const { text } = await panel.open(page);
    assert.match(textOf(text), /Last hour CPU [\d.]+% Memory [\d.]+ MiB Network .*inbound, .*outbound/);
    assert.match(textOf(text), /Transfer this month \d\.\d\d of \d+ TiB/);
    const picture = await fetchAsOwner(urlOf(/src="([^"]+network.png[^"]+)"/.exec(text)?.[1]));
    // The header of a PNG has its width.
    assert.equal(Buffer.from(await picture.arrayBuffer()).readUInt32BE(16), 240);
  });
});
