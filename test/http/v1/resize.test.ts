/** Resizing over REST: the beta header, the refusals, the quote, and what a client sees. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parseId } from '../../../src/kernel/ids.ts';
import { createApiToken, type JsonBody, V1Client, type V1Response } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

const BETA = { headers: { 'x-service-beta': 'true' } };

let world: World;
let api: V1Client;
let id: string;
before(async () => {
  world = await startWorld(NO_RATES);
  const customer = await world.customer();
  await world.addBalance(customer, 50_000n);
  api = V1Client.forApp(world.http, await createApiToken(customer));
  const key = await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY });
  const images = await api.get('/images?family=debian');
  const image = images.body.data.find((one: JsonBody) => one.version === '12').id;
  const order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key.body.id] };
  id = (await api.post('/servers', order)).body.id;
  await world.settle();
});
after(() => world.close());

const resize = (body: object, options = BETA): Promise<V1Response> =>
  api.post(`/servers/${id}/resize`, body, options);
const quote = async (params: object): Promise<JsonBody> =>
  (await api.post('/quotes', { operation: 'server.resize', resource: id, params })).body;
const item = ({ status, body }: V1Response) => [status, body.error.code, body.error.errors?.[0]];

describe('POST /servers/{id}/resize', () => {
  it('is beta', async () => {
    const { status, body } = await api.post(`/servers/${id}/resize`, { plan: 's2', restart: true });
    assert.equal(status, 400);
    assert.deepEqual(body.error.errors, [{ field: 'X-Service-Beta', issue: 'required' }]);
  });

  it('names what it refuses, like its quote', async () => {
    const dedicated = await world.opened.db.row<{ id: string }>(
      `select id from plans where category = 'dedicated' limit 1`,
    );
    const cases: readonly [object, number, object | undefined][] = [
      [{ plan: 's2' }, 409, { field: 'restart', issue: 'wrong_state' }],
      [{ plan: 's1', restart: true }, 422, { field: 'plan', issue: 'invalid_value' }],
      [{ plan: 'nope', restart: true }, 422, { field: 'plan', issue: 'not_found' }],
      [{ plan: dedicated?.id, restart: true }, 422, { field: 'plan', issue: 'mismatch' }],
      [
        { plan: 's2', restart: true, max_price_usd: 0 },
        409,
        {
          field: 'max_price_usd',
          issue: 'price_changed',
          price_usd: (await quote({ plan: 's2' })).due_now_usd,
        },
      ],
    ];
    for (const [body, status, expected] of cases) {
      const refused = await resize(body);
      assert.deepEqual(item(refused), [
        status,
        status === 409 ? 'conflict_state' : 'unprocessable',
        expected,
      ]);
      const quoted = await quote(body);
      assert.deepEqual([quoted.available, quoted.errors[0]], [false, expected], JSON.stringify(body));
      assert.equal(quoted.refusal.message, refused.body.error.message);
    }
    await world.opened.db.run('update hosts set reserve_ram_mb = ram_mb');
    const expected = { field: 'plan', issue: 'unavailable' };
    assert.deepEqual(item(await resize({ plan: 's2', restart: true })), [422, 'unprocessable', expected]);
    assert.deepEqual((await quote({ plan: 's2', restart: true })).errors, [expected]);
    await world.opened.db.run('update hosts set reserve_ram_mb = 0');
    assert.equal((await api.get(`/servers/${id}`)).body.plan, 's1');
  });

  it('its quote knows that volumes move along, and that the server is busy', async () => {
    const { body: volume } = await api.post('/volumes', { name: 'data', size_gb: 100, region: 'par' });
    assert.equal((await api.post(`/volumes/${volume.id}/attach`, { server: id })).status, 200);
    await world.settle();
    const { db } = world.opened;
    const own = `id = (select host_id from servers where name = 'web-1')`;
    await db.run(`update hosts set reserve_ram_mb = ram_mb where ${own}`);
    const wanted = { plan: 's2', restart: true };
    assert.equal((await quote(wanted)).available, true);
    await db.run(`update hosts set disk_gb = 60 where not ${own}`);
    const expected = { field: 'plan', issue: 'unavailable' };
    assert.deepEqual(item(await resize(wanted)), [422, 'unprocessable', expected]);
    assert.deepEqual((await quote(wanted)).errors, [expected]);
    await db.run(`update hosts set disk_gb = 10000 where not ${own}`);
    await db.run(`insert into tasks (kind, subject, due_at) values ('volume', $1, 'infinity')`, [
      parseId('volume', volume.id),
    ]);
    const refused = await resize(wanted);
    assert.equal(refused.status, 409, refused.text);
    const quoted = await quote(wanted);
    assert.equal(quoted.refusal.message, refused.body.error.message);
    await db.run(`delete from tasks where kind = 'volume'`);
    await db.run('update hosts set reserve_ram_mb = 0');
    await api.post(`/volumes/${volume.id}/detach`);
    await world.settle();
  });

  it('charges what its quote says, and answers the same to a repeated request', async () => {
    const {
      id: quoteId,
      due_now_usd,
      renews_usd,
      cycle_ends_at,
    } = await quote({ plan: 's2', restart: true });
    const before = (await api.get('/billing/balance')).body.usd;
    const options = { ...BETA, key: 'resize-1' };
    const body = { plan: 's2', resize_disk: true, restart: true, quote: quoteId };
    const resized = await resize(body, options);
    assert.equal(resized.status, 202, resized.text);
    assert.deepEqual((await resize(body, options)).body, resized.body);
    const { plan, paid_until, price_usd_cycle } = resized.body;
    assert.deepEqual([plan, paid_until, price_usd_cycle], ['s2', cycle_ends_at, renews_usd]);
    await world.settle();
    const after = (await api.get('/billing/balance')).body.usd;
    assert.equal(Math.round((before - after) * 100), Math.round(due_now_usd * 100));
    const { data } = (await api.get('/billing/ledger')).body;
    assert.deepEqual([data[0].type, data[0].resource], ['charge', id]);
    assert.match(data[0].description, /^s1 to s2 in par, until \d{4}-\d\d-\d\d$/);
    const [disk] = (
      await world.opened.db.rows<{ disk_gb: number }>('select disk_gb from servers where id = $1', [
        parseId('server', id),
      ])
    ).map(({ disk_gb }) => disk_gb);
    assert.equal((await api.get(`/servers/${id}`)).body.disk_gb, disk);
  });

  it('sends its events in the order of the change', async () => {
    const rows = await world.opened.db.rows<{ type: string }>('select type from events order by place');
    const types = rows.map(({ type }) => type).filter((type) => /resized|charged|rebooted/.test(type));
    assert.deepEqual(types, ['billing.charged', 'server.resized', 'billing.charged', 'server.rebooted']);
  });

  it('cannot go back to a plan with a smaller disk', async () => {
    assert.deepEqual(item(await resize({ plan: 's1', restart: true })), [
      422,
      'unprocessable',
      { field: 'plan', issue: 'mismatch' },
    ]);
  });
});
