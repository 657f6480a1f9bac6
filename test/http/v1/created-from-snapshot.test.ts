/** A server that is created from a snapshot (API 1.7, "In POST /servers"). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

let world: World;
let api: V1Client;
let stranger: V1Client;
let order: JsonBody;
let image: string;
let snapshot: string;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(190)));
  stranger = api.withToken(await createApiToken(await world.customer(90)));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const images = (await api.get('/images?family=debian')).body.data as JsonBody[];
  image = images.find(({ deprecated_at }) => deprecated_at === null)?.id;
  order = { name: 'web-2', plan: 's1', region: 'par', ssh_keys: [key] };
  const source = await create({ image, name: 'web-1' });
  snapshot = (await api.post(`/servers/${source}/snapshots`, {})).body.id;
  await world.settle();
  order = { ...order, image: snapshot };
});
after(() => world.close());

async function create(changes: JsonBody): Promise<string> {
  const created = await api.post('/servers', { ...order, ...changes });
  assert.equal(created.status, 201, created.text);
  await world.settle();
  return created.body.id;
}
const show = async (id: string) => (await api.get(`/servers/${id}`)).body;
const installed = async (id: string) =>
  await world.opened.db.row<{ hostname: string; generation: number }>(
    `select installed ->> 'hostname' as hostname, generation from sim.machines where id = $1`,
    [parseId('server', id)],
  );
async function refused(changes: JsonBody, by = api): Promise<readonly [string, string]> {
  const [item] = assertApiError(await by.post('/servers', { ...order, ...changes }), 422, 'unprocessable');
  return [item.field, item.issue];
}

describe('a server created from a snapshot', () => {
  it('runs, shows the image of the source, and is set up as a new server', async () => {
    const user_data_b64 = Buffer.from('#cloud-config\n').toString('base64');
    const id = await create({ user_data_b64 });
    const server = await show(id);
    assert.deepEqual([server.status, server.image], ['running', image]);
    assert.deepEqual(await installed(id), { hostname: 'web-2', generation: 1 });
  });

  it('can be created stopped', async () => {
    const id = await create({ start: false });
    assert.equal((await show(id)).status, 'stopped');
    assert.equal((await api.post(`/servers/${id}/start`)).status, 202);
    await world.settle();
    assert.equal((await show(id)).status, 'running');
  });

  it('is refused where the snapshot does not fit, and nothing is charged', async () => {
    const balance = async () => (await api.get('/billing/balance')).body.balance_usd;
    const before = await balance();
    const missing = formatId('snapshot', newId(new Date()));
    assert.deepEqual(await refused({ image: missing }), ['image', 'not_found']);
    const { ssh_keys: _, ...ofStranger } = order;
    const { id: key } = (await stranger.post('/ssh-keys', { name: 'own', public_key: PUBLIC_KEY })).body;
    assert.deepEqual(await refused({ ...ofStranger, ssh_keys: [key] }, stranger), ['image', 'not_found']);
    assert.deepEqual(await refused({ region: 'zrh' }), ['image', 'mismatch']);
    await world.opened.db.run('update snapshots set disk_gb = disk_gb * 100 where id = $1', [
      parseId('snapshot', snapshot),
    ]);
    assert.deepEqual(await refused({}), ['image', 'mismatch']);
    await world.opened.db.run('update snapshots set disk_gb = disk_gb / 100 where id = $1', [
      parseId('snapshot', snapshot),
    ]);
    assert.equal(await balance(), before);
  });

  it('a quote says the same, and what the order costs', async () => {
    const quote = async (params: JsonBody) =>
      (await api.post('/quotes', { operation: 'server.create', params: { ...order, ...params } })).body;
    assert.equal((await quote({ start: false })).available, true);
    const { available, errors } = await quote({ region: 'zrh' });
    assert.deepEqual([available, errors[0].field, errors[0].issue], [false, 'image', 'mismatch']);
  });

  it('waits until the snapshot is ready, and keeps it until the install has begun', async () => {
    const [{ id: source }] = (await api.get('/servers?filter[name]=web-1')).body.data;
    const created = await api.post(`/servers/${source}/snapshots`, {});
    assert.deepEqual(await refused({ image: created.body.id }), ['image', 'wrong_state']);
    await world.settle();
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 100_000 });
    const server = await api.post('/servers', { ...order, image: created.body.id });
    assert.equal(server.status, 201, server.text);
    assertApiError(await api.delete(`/snapshots/${created.body.id}`), 409, 'conflict_state');
    await world.sandbox('faults', { driver: 'compute', operation: 'observe', times: 0 });
    await world.advance(60);
    assert.equal((await show(server.body.id)).status, 'running');
    assert.equal((await api.delete(`/snapshots/${created.body.id}`)).status, 204);
  });

  it('is refunded if no host can copy the snapshot', async () => {
    const balance = async () => (await api.get('/billing/balance')).body.balance_usd;
    const before = await balance();
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
    const { id } = (await api.post('/servers', order)).body;
    await world.advance(300);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
    await world.advance(60);
    assert.equal((await api.get(`/servers/${id}`)).status, 404);
    assert.equal(await balance(), before);
    const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
    assert.deepEqual(broken, []);
  });
});
