/** Actions in the panel: the progress of a server, and why something failed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { NO_RATES, PUBLIC_KEY } from '../../http/v1/contract/estate.ts';
import { PanelClient, refreshOf, textOf } from '../../support/panel-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

let world: World;
let panel: PanelClient;
let api: V1Client;
let order: object;

before(async () => {
  world = await startWorld(NO_RATES);
  const customer = await world.customer(120);
  panel = PanelClient.forUrl(world.url, { cookie: customer.cookie });
  api = V1Client.forUrl(world.url, await createApiToken(customer));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
});
after(() => world.close());

describe('actions in the panel', () => {
  it('the page of a server shows the progress of its action, and refreshes', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 1_000 });
    const { id } = (await api.post('/servers', order)).body;
    const page = await panel.open(`/servers/${id}`);
    assert.match(page.text, /<progress max="100" value="\d+" aria-label="Creating server">/);
    assert.ok(refreshOf(page.text), 'the page refreshes without scripts');
    assert.match(textOf(page.text), /address \(done\) \w+ \(in progress\) .*reachable \(not started\)/);
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.settle();
    const { text } = await panel.open(`/servers/${id}`);
    assert.doesNotMatch(text, /<progress/);
    assert.match(textOf(text), /Server created succeeded/);
  });

  it('a failure is listed with its cause, and its page has the steps', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
    const { id, action } = (await api.post('/servers', order)).body;
    await world.advance(600);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
    const list = textOf((await panel.open(`/actions?resource=${id}`)).text);
    assert.match(list, /Create server srv_\w+ failed .*went back to your balance/s);
    const page = textOf((await panel.open(`/actions/${action.id}`)).text);
    assert.match(page, /address succeeded/);
    assert.match(page, /disk failed/);
    assert.match(page, /reachable pending/);
  });

  it('an action of another customer is not found', async () => {
    const { data } = (await api.get('/actions')).body;
    const other = PanelClient.forUrl(world.url, { cookie: (await world.customer()).cookie });
    assert.equal((await other.get(`/actions/${data[0].id}`)).status, 404);
  });
});
