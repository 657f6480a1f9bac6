import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { QUOTAS, SHOWN_QUOTAS } from '../../../src/spec/limits.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { type HttpWorld, startHttpWorld } from '../http-world.ts';
import { PUBLIC_KEY } from './contract/estate.ts';

describe('REST account', () => {
  let world: HttpWorld;
  let customer: SessionClient;
  let api: V1Client;
  before(async () => {
    world = await startHttpWorld({ catalogue: true });
    customer = await world.customer();
    api = V1Client.forApp(world.app, await createApiToken(customer, 'billing'));
  });
  after(() => world.close());

  const limitsOf = async (client: V1Client): Promise<Record<string, JsonBody>> => {
    const { data } = (await client.get('/account/limits?page_size=100')).body;
    return Object.fromEntries(data.map((item: JsonBody) => [item.name, item]));
  };

  it('GET /account returns the account and the token of the request', async () => {
    const { body: made } = await api.post('/account/tokens', {
      name: 'deploys',
      scope: 'read',
      expires_at: '2099-01-31T12:00:00Z',
    });
    const reader = V1Client.forApp(world.app, made.token);
    const { body, status } = await reader.get('/account');
    assert.equal(status, 200);
    assert.deepEqual(body, {
      id: body.id,
      object: 'account',
      status: 'active',
      email: null,
      created_at: body.created_at,
      token: {
        id: made.id,
        name: 'deploys',
        scope: 'read',
        expires_at: '2099-01-31T12:00:00Z',
        limits: null,
      },
    });
    assert.match(body.id, /^cus_[a-z2-7]{26}$/);
    const billing = (await api.get('/account')).body;
    assert.deepEqual([billing.id, billing.token.scope, billing.token.expires_at], [body.id, 'billing', null]);
    assert.match(billing.email, /@/);
    await world.db.run('update customers set frozen_at = now() where id = $1', [
      await world.customerId(customer),
    ]);
    assert.equal((await reader.get('/account')).body.status, 'frozen');
    await world.db.run('update customers set frozen_at = null');
  });

  it('GET /account/limits returns every quota with its use, in pages', async () => {
    await api.post('/ssh-keys', { name: 'k', public_key: PUBLIC_KEY });
    for (const size_gb of [10, 20]) {
      const volume = await api.post('/volumes', { name: 'v', size_gb, region: 'par' });
      assert.equal(volume.status, 201, volume.text);
    }
    const limits = await limitsOf(api);
    assert.deepEqual(
      Object.values(limits).map(({ name, limit, per }) => [name, limit, per]),
      SHOWN_QUOTAS.filter(({ quota }) => quota !== 'unpaidTopupsPerDay').map(({ name, quota, per }) => [
        name,
        QUOTAS[quota],
        per,
      ]),
    );
    const used = (name: string) => limits[name]?.used;
    assert.deepEqual([used('ssh_keys'), used('volumes'), used('servers'), used('open_topups')], [1, 2, 0, 0]);
    assert.deepEqual([used('snapshots_per_server'), limits.servers?.object], [null, 'limit']);

    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const page = (await api.get(`/account/limits?sort=-name&page_size=4${cursor}`)).body;
      names.push(...page.data.map(({ name }: JsonBody) => name));
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    assert.deepEqual(names, Object.keys(limits).reverse());
  });

  it('the use of top-ups is shown only to the scope billing', async () => {
    const reader = V1Client.forApp(world.app, await createApiToken(customer, 'write'));
    const limits = await limitsOf(reader);
    assert.equal(limits.open_topups?.used, null);
    assert.notEqual(limits.api_tokens?.used, null);
  });

  it('a refusal by a quota says how much is used', async () => {
    const limit = QUOTAS.firewallGroups;
    const body = { name: 'a', default_action: 'drop' };
    for (let made = 0; made < limit; made++)
      assert.equal((await api.post('/firewall/groups', body)).status, 201);
    const refused = await api.post('/firewall/groups', body);
    assert.deepEqual(assertApiError(refused, 422, 'unprocessable'), [
      { field: '', issue: 'limit_reached', limit, used: limit },
    ]);
    assert.equal((await limitsOf(api)).firewall_groups?.used, limit);
  });
});
