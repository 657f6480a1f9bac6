/** A limited token hears only about resources inside, and changes only those. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../../support/v1-client.ts';
import { startWorld, type World } from '../../../support/world.ts';
import { NO_RATES, PUBLIC_KEY, RULE } from '../contract/estate.ts';
import { StreamClient } from '../events-world.ts';
import { type LimitedToken, limited } from './limited-world.ts';

const CI = { env: 'ci' };

describe('a token that is limited to labels', () => {
  let world: World;
  let api: V1Client;
  let order: JsonBody;
  /** Reaches `env=ci`, the key of the order, and the firewall group. */
  let ci: LimitedToken;
  let group: JsonBody;
  let prod: JsonBody;

  before(async () => {
    world = await startWorld(NO_RATES);
    const customer = await world.customer();
    await world.addBalance(customer, 100_000n);
    api = V1Client.forApp(world.http, await createApiToken(customer));
    const images = (await api.get('/images?family=debian')).body.data;
    const image = images.find(({ version }: JsonBody) => version === '12').id;
    const key = (await api.post('/ssh-keys', { name: 'ci', public_key: PUBLIC_KEY })).body.id;
    order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
    prod = await make(api, '/servers', { ...order, name: 'prod' });
    const rules = { name: 'web', default_action: 'drop', rules: [RULE] };
    group = await make(api, '/firewall/groups', { ...rules, applied_to: [prod.id] });
    ci = await limited(api, { label_selector: 'env=ci', resources: [key, group.id] });
    await world.settle();
  });
  after(() => world.close());

  async function make(client: V1Client, path: string, body?: object): Promise<JsonBody> {
    const answer = await client.post(path, body);
    assert.ok(answer.status < 300, answer.text);
    return answer.body;
  }

  it('it creates servers with its labels, and no others', async () => {
    const [item] = assertApiError(await ci.api.post('/servers', order), 403, 'forbidden_scope');
    assert.deepEqual(item, { field: 'labels', issue: 'not_allowed' });
    const quote = { operation: 'server.create', params: { plan: 's1', labels: { env: 'prod' } } };
    const quoted = (await ci.api.post('/quotes', quote)).body;
    assert.deepEqual([quoted.available, quoted.errors], [false, [item]]);
    const made = await make(ci.api, '/servers', { ...order, labels: CI });
    const seen = (await ci.api.get('/servers')).body.data.map(({ id }: JsonBody) => id);
    assert.deepEqual(seen, [made.id]);
  });

  it('its webhook and its event stream have only the events of resources inside', async () => {
    await world.settle();
    const url = 'https://hooks.invalid/';
    const hook = await make(ci.api, '/webhooks', { url, events: ['*'] });
    const all = await make(api, '/webhooks', { url, events: ['*'] });
    const inside = await make(api, '/servers', { ...order, name: 'inside', labels: CI });
    const outside = await make(api, '/servers', { ...order, name: 'outside' });
    await world.settle();
    const sentTo = async (id: string) => {
      const { data } = (await api.get(`/webhooks/${id}/deliveries?page_size=100`)).body;
      const { rows } = await eventsById();
      return new Set<string>(data.map(({ event }: JsonBody) => rows.get(event) ?? event));
    };
    assert.deepEqual([...(await sentTo(hook.id))], [inside.id]);
    assert.ok((await sentTo(all.id)).has(outside.id));

    const client = await StreamClient.open(`${world.url}/v1/events?after=0`, ci.plaintext);
    const latest = (await world.opened.db.row<{ seq: bigint }>('select max(seq) as seq from events'))?.seq;
    while (!client.text.includes(`id: ${latest}\n`)) await client.block();
    assert.ok(client.text.includes(inside.id));
    for (const id of [outside.id, prod.id, 'billing.charged', 'api_token'])
      assert.ok(!client.text.includes(id), id);
    await client.close();
  });

  async function eventsById(): Promise<{ rows: ReadonlyMap<string, string> }> {
    const { formatId } = await import('../../../../src/kernel/ids.ts');
    const rows = await world.opened.db.rows<{ id: string; data: JsonBody }>('select id, data from events');
    return { rows: new Map(rows.map(({ id, data }) => [formatId('event', id), data.server?.id ?? 'other'])) };
  }

  it('its audit log has what happened to what is inside, and what it did itself', async () => {
    const inside = await make(api, '/volumes', { name: 'a', size_gb: 10, region: 'par', labels: CI });
    const outside = await make(api, '/volumes', { name: 'b', size_gb: 10, region: 'par' });
    assertApiError(await ci.api.delete(`/volumes/${outside.id}`), 404, 'not_found');
    const { data } = (await ci.api.get('/audit/events?page_size=100')).body;
    const about = (id: string) => data.filter(({ resource }: JsonBody) => resource === id);
    assert.deepEqual(
      about(inside.id).map(({ action }: JsonBody) => action),
      ['volume.create'],
    );
    assert.deepEqual(
      about(outside.id).map(({ action, result }: JsonBody) => [action, result]),
      [['volume.delete', 'error']],
    );
    const every = (await api.get('/audit/events?page_size=100')).body.data;
    for (const event of every) {
      const isShown = data.some(({ id }: JsonBody) => id === event.id);
      const answer = await ci.api.get(`/audit/events/${event.id}`);
      assert.equal(answer.status, isShown ? 200 : 404, event.action);
    }
  });

  it('a change of a firewall group keeps the servers that the token cannot reach', async () => {
    const inside = await make(api, '/servers', { ...order, name: 'in-group', labels: CI });
    await world.settle();
    const path = `/firewall/groups/${group.id}`;
    assert.deepEqual((await ci.api.get(path)).body.applied_to, []);
    const changed = await ci.api.patch(path, { applied_to: [inside.id] });
    assert.deepEqual(changed.body.applied_to, [inside.id], changed.text);
    assert.deepEqual((await api.get(path)).body.applied_to, [prod.id, inside.id]);
    const child = { name: 'child', scope: 'read', limits: { resources: [prod.id] } };
    const [named] = assertApiError(await ci.api.post('/account/tokens', child), 422, 'unprocessable');
    assert.deepEqual(named, { field: 'limits.resources.0', issue: 'not_found' });
    const [item] = assertApiError(await ci.api.patch(path, { attach: [prod.id] }), 422, 'unprocessable');
    assert.deepEqual(item, { field: 'attach.0', issue: 'not_found' });
  });

  it('an id in a name or a label is text, even if it is outside', async () => {
    const body = { name: prod.id, size_gb: 10, region: 'par', labels: { ...CI, of: prod.id } };
    const volume = await make(ci.api, '/volumes', body);
    assert.deepEqual([volume.name, volume.labels.of], [prod.id, prod.id]);
  });

  it('the account shows it no numbers of resources', async () => {
    const { data } = (await ci.api.get('/account/limits')).body;
    assert.ok(data.length > 0 && data.every(({ used }: JsonBody) => used === null));
  });
});

describe('a token that is limited to operations', () => {
  let world: World;
  let api: V1Client;
  before(async () => {
    world = await startWorld(NO_RATES);
    api = V1Client.forApp(world.http, await createApiToken(await world.customer()));
  });
  after(() => world.close());

  it('lifting a protection is an operation of its own', async () => {
    const body = { name: 'a', size_gb: 10, region: 'par', protection: { delete: true } };
    const { id } = (await api.post('/volumes', body)).body;
    const path = `/volumes/${id}`;
    const lift = { protection: { delete: false } };
    const { api: updates } = await limited(api, { operations: ['volumes.update'] });
    assert.equal((await updates.patch(path, { name: 'b', protection: { delete: true } })).status, 200);
    const [item] = assertApiError(await updates.patch(path, lift), 403, 'forbidden_scope');
    assert.deepEqual(item, { field: 'limits.operations', issue: 'not_allowed' });
    const { api: lifts } = await limited(api, { operations: ['volumes.update', 'volumes.unprotect'] });
    assert.equal((await lifts.patch(path, lift)).status, 200);
    // Nothing is lifted.
    assert.equal((await updates.patch(path, lift)).status, 200);
  });

  it('a stream on which nothing would come is refused', async () => {
    const headers = { 'x-service-beta': 'true' };
    const ci = await limited(api, { label_selector: 'env=ci' });
    for (const types of ['action.success,action.error', 'alert.fired', 'backup.failed', 'billing.charged']) {
      const refused = await ci.api.get(`/events?types=${types}`, { headers });
      const [item] = assertApiError(refused, 403, 'forbidden_scope');
      assert.deepEqual([item.field, item.issue], ['limits.resources', 'not_allowed']);
    }
    for (const types of ['action.success,server.running', '*'])
      assert.equal((await ci.api.get(`/events?types=${types}`, { headers })).status, 200);
    const { api: reader } = await limited(api, { operations: ['events.stream'] });
    assert.equal((await reader.get('/events?types=action.success', { headers })).status, 200);
  });

  it('an open event stream ends when the limits of its token change', async () => {
    const token = await limited(api, { operations: ['events.stream'] });
    const client = await StreamClient.open(`${world.url}/v1/events`, token.plaintext);
    await client.block();
    assert.equal(
      (await api.patch(`/account/tokens/${token.id}`, { limits: { label_selector: 'env=ci' } })).status,
      200,
    );
    while (!client.ended) await client.block();
    assert.match(client.text, /the limits of the token changed/);
  });

  it('the limits of webhooks follow those of the token that created them', async () => {
    const token = await limited(api, { operations: ['webhooks.create', 'webhooks.list'] });
    const body = { url: 'https://hooks.invalid/', events: ['*'] };
    assert.equal((await token.api.post('/webhooks', body)).status, 201);
    assert.equal((await api.post('/webhooks', body)).status, 201);
    assert.equal((await token.api.get('/webhooks')).body.data.length, 2);
    await api.patch(`/account/tokens/${token.id}`, { limits: { regions: ['par'] } });
    assert.equal((await token.api.get('/webhooks')).body.data.length, 1);
    const [row] = await world.opened.db.rows<{ reach: JsonBody }>(
      'select reach from webhooks where reach is not null',
    );
    assert.deepEqual(row?.reach, { clauses: [], regions: ['par'] });
  });
});
