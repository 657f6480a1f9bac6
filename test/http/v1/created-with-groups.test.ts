/** A server that is created with firewall groups (API 1.7, "In POST /servers"). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

const RULE = { direction: 'in', proto: 'tcp', source: '0.0.0.0/0', action: 'accept' };
const TYPES = ['server.created', 'billing.charged', 'firewall.applied', 'firewall.applied', 'server.running'];

let world: World;
let api: V1Client;
let stranger: V1Client;
let order: JsonBody;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(90)));
  stranger = api.withToken(await createApiToken(await world.customer()));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
});
after(() => world.close());

async function createGroup(name: string, port: string, by = api): Promise<string> {
  const body = { name, default_action: 'drop', rules: [{ ...RULE, port }] };
  return (await by.post('/firewall/groups', body)).body.id;
}
const balance = async () => (await api.get('/billing/balance')).body.balance_usd as number;
const portsOf = async (id: string) => {
  const row = await world.opened.db.row<{ ports: unknown }>(
    `select jsonb_path_query_array(filter, '$.rules[*].ports[0][0]') as ports
       from sim.machines where id = $1`,
    [parseId('server', id)],
  );
  return row?.ports;
};

describe('a server created with firewall groups', () => {
  it('its machine has their filter from the start, in the order of the request', async () => {
    const [web, ssh] = [await createGroup('web', '443'), await createGroup('ssh', '22')];
    // Changing the filter of an existing machine fails, so only its creation can have set it.
    await world.sandbox('faults', { driver: 'compute', operation: 'filter', times: 1_000 });
    const created = await api.post('/servers', { ...order, firewall_groups: [ssh, web, ssh] });
    assert.equal(created.status, 201, created.text);
    const { id } = created.body;
    assert.deepEqual((await api.get(`/firewall/groups/${web}`)).body.applied_to, [id]);
    await world.advance(60);
    assert.deepEqual(await portsOf(id), [22, 443]);
    await world.sandbox('faults', { driver: 'compute', operation: 'filter', times: 0 });
    await world.settle();
    assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
    const events = await world.opened.db.rows<{ type: string }>(
      `select type from events where data::text like '%' || $1 || '%' and type not like 'action.%'
        order by place`,
      [id],
    );
    assert.deepEqual(
      events.map(({ type }) => type),
      TYPES,
    );
  });

  it('an unknown group is refused by its place, and nothing is charged', async () => {
    const [own, foreign] = [await createGroup('own', '80'), await createGroup('theirs', '80', stranger)];
    const before = await balance();
    const missing = formatId('firewallGroup', newId(new Date()));
    for (const wrong of [foreign, missing, 'fwg_1', own.toUpperCase()]) {
      const refused = await api.post('/servers', { ...order, firewall_groups: [own, wrong] });
      const [item] = assertApiError(refused, 422, 'unprocessable');
      assert.deepEqual([item.field, item.issue], ['firewall_groups.1', 'not_found']);
    }
    assert.equal(await balance(), before);
    assert.deepEqual((await api.get(`/firewall/groups/${own}`)).body.applied_to, []);
    const many = Array.from({ length: 51 }, () => own);
    const [item] = assertApiError(
      await api.post('/servers', { ...order, firewall_groups: many }),
      400,
      'invalid_request',
    );
    assert.deepEqual([item.field, item.issue, item.max], ['firewall_groups', 'max_items', 50]);
  });
});
