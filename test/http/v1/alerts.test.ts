import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { QUOTAS } from '../../../src/spec/limits.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';

describe('alerts over REST', () => {
  let world: World;
  let api: V1Client;
  let server: string;
  before(async () => {
    world = await startWorld({ SKERRY_RATE_CAPACITY: '100000' });
    const customer = await world.customer();
    await world.addBalance(customer, 10_000n);
    api = V1Client.forApp(world.http, await createApiToken(customer));
    const images = (await api.get('/images?family=debian')).body.data;
    const key = (await api.post('/ssh-keys', { name: 'k', public_key: PUBLIC_KEY })).body.id;
    const image = images.find((one: JsonBody) => one.deprecated_at === null).id;
    const order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
    server = (await api.post('/servers', order)).body.id;
    await world.settle();
  });
  after(() => world.close());

  const CONDITION = { name: 'busy', metric: 'cpu_pct', value: 90 } as const;
  async function create(body: object): Promise<JsonBody> {
    const answer = await api.post('/alerts', body);
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  it('a new alert has its defaults, and is found, listed, changed, and deleted', async () => {
    const created = await create({ ...CONDITION, servers: [server, server] });
    assert.match(created.id, /^alr_/);
    assert.deepEqual(
      { ...created, id: '', created_at: '' },
      {
        ...{ id: '', object: 'alert', ...CONDITION, compare: 'gt', window: '5m', servers: [server] },
        ...{ label_selector: null, enabled: true, firing: [], created_at: '' },
      },
    );
    const path = `/alerts/${created.id}`;
    assert.deepEqual((await api.get(path)).body, created);
    assert.deepEqual((await api.get('/alerts?filter[metric]=cpu_pct')).body.data, [created]);
    assert.deepEqual((await api.get('/alerts?filter[enabled]=false')).body.data, []);
    const body = { name: 'web', compare: 'lt', value: 5.5, window: '1h', label_selector: 'tier=web' };
    const changed = (await api.patch(path, { ...body, enabled: false })).body;
    assert.deepEqual(changed, { ...created, ...body, servers: null, enabled: false });
    const listed = (await api.patch(path, { servers: [server] })).body;
    assert.deepEqual([listed.servers, listed.label_selector], [[server], null]);
    assert.equal((await api.delete(path)).status, 204);
    assertApiError(await api.get(path), 404, 'not_found');
    const { data: audit } = (await api.get(`/audit/events?filter[resource]=${created.id}`)).body;
    assert.deepEqual(
      audit.map(({ action }: JsonBody) => action),
      ['alert.delete', 'alert.update', 'alert.update', 'alert.create'],
    );
  });

  it('a repeated request with an idempotency key creates one alert', async () => {
    const body = { ...CONDITION, name: 'once', label_selector: '' };
    const [first, second] = [
      await api.post('/alerts', body, { key: 'alert-once' }),
      await api.post('/alerts', body, { key: 'alert-once' }),
    ];
    assert.deepEqual([second.status, second.body], [201, first.body]);
    assert.equal((await api.get('/alerts?filter[name]=once')).body.data.length, 1);
    await api.delete(`/alerts/${first.body.id}`);
  });

  it('a condition that makes no sense is refused by its field', async () => {
    const refused: [object, string, string][] = [
      [{ ...CONDITION, value: undefined, label_selector: '' }, 'value', 'required'],
      [{ ...CONDITION, value: 101, label_selector: '' }, 'value', 'max'],
      [{ ...CONDITION, value: -1, label_selector: '' }, 'value', 'min'],
      [{ ...CONDITION, metric: 'unreachable', label_selector: '' }, 'value', 'invalid_value'],
      [{ ...CONDITION, metric: 'load', label_selector: '' }, 'metric', 'invalid_value'],
      [{ ...CONDITION, window: '2m', label_selector: '' }, 'window', 'invalid_value'],
      [{ ...CONDITION, servers: [server], label_selector: '' }, 'label_selector', 'invalid_value'],
      [{ ...CONDITION }, 'servers', 'required'],
      [{ ...CONDITION, servers: [] }, 'servers', 'min_items'],
      [{ ...CONDITION, label_selector: 'A B=x' }, 'label_selector', 'invalid_format'],
      [{ ...CONDITION, label_selector: 'env' }, 'label_selector', 'invalid_format'],
      [{ ...CONDITION, label_selector: 'env=a,env=b' }, 'label_selector', 'invalid_format'],
      [{ ...CONDITION, label_selector: 'x'.repeat(1_001) }, 'label_selector', 'max_length'],
      [{ ...CONDITION, label_selector: { env: 'prod' } }, 'label_selector', 'invalid_type'],
      [{ ...CONDITION, label_selector: '', firing: [] }, 'firing', 'unknown_key'],
    ];
    for (const [body, field, issue] of refused) {
      const answer = await api.post('/alerts', body);
      const [item] = assertApiError(answer, 400, 'invalid_request');
      assert.deepEqual([item.field, item.issue], [field, issue], answer.text);
    }
    const answer = await api.post('/alerts', { ...CONDITION, servers: [server, `${server.slice(0, -2)}aa`] });
    const [item] = assertApiError(answer, 422, 'unprocessable');
    assert.deepEqual([item.field, item.issue], ['servers.1', 'not_found']);
  });

  it('a value belongs to its metric: another metric needs another value', async () => {
    const { id } = await create({ ...CONDITION, label_selector: '' });
    const [item] = assertApiError(
      await api.patch(`/alerts/${id}`, { metric: 'net_out_bps' }),
      400,
      'invalid_request',
    );
    assert.deepEqual([item.field, item.issue], ['value', 'required']);
    const down = (await api.patch(`/alerts/${id}`, { metric: 'unreachable' })).body;
    assert.deepEqual([down.metric, down.compare, down.value], ['unreachable', null, null]);
    await api.delete(`/alerts/${id}`);
  });

  it('the quota bounds the alerts of an account', async () => {
    const ids: string[] = [];
    for (let n = 0; n < QUOTAS.alerts; n++) ids.push((await create({ ...CONDITION, label_selector: '' })).id);
    const answer = await api.post('/alerts', { ...CONDITION, label_selector: '' });
    const [item] = assertApiError(answer, 422, 'unprocessable');
    assert.deepEqual([item.issue, item.limit, item.used], ['limit_reached', QUOTAS.alerts, QUOTAS.alerts]);
    const limits = (await api.get('/account/limits?page_size=100')).body.data;
    assert.deepEqual(
      limits.find(({ name }: JsonBody) => name === 'alerts'),
      { object: 'limit', name: 'alerts', limit: QUOTAS.alerts, used: QUOTAS.alerts, per: 'account' },
    );
    for (const id of ids) await api.delete(`/alerts/${id}`);
  });

  it('metrics have the requested step, and are by the hour without one', async () => {
    await world.advance(30 * 60);
    const metrics = async (query: string) => (await api.get(`/servers/${server}/metrics${query}`)).body;
    const hourly = await metrics('');
    assert.equal(hourly.step_s, 3600);
    const { step_s, series } = await metrics('?step_s=3600');
    assert.deepEqual({ step_s, series }, { step_s: 3600, series: hourly.series });
    for (const step of [60, 300]) {
      const { step_s, series } = await metrics(`?step_s=${step}`);
      assert.equal(step_s, step);
      const times = series.cpu_pct.map(([at]: [number]) => at);
      assert.ok(times.length >= 5 && times.every((at: number) => at % step === 0), `${times}`);
    }
    for (const step of ['61', 'x', '0', '']) {
      const [item] = assertApiError(
        await api.get(`/servers/${server}/metrics?step_s=${step}`),
        400,
        'invalid_request',
      );
      assert.equal(item.field, 'step_s');
    }
  });

  it('the event stream shows that an alert fired, with its server', async () => {
    const { id } = await create({ ...CONDITION, value: 0, servers: [server] });
    await world.advance(600);
    const found = (await api.get(`/alerts/${id}`)).body;
    assert.deepEqual(
      found.firing.map((one: JsonBody) => one.server),
      [server],
    );
    const rows = await world.opened.db.rows<{ data: JsonBody }>(
      `select data from events where type = 'alert.fired'`,
    );
    assert.deepEqual(
      rows.map(({ data }) => [data.alert.id, data.alert.object, data.server.id, data.server.object]),
      [[id, 'alert', server, 'server']],
    );
    assert.deepEqual(rows[0]?.data.alert.firing, found.firing);
  });
});

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
