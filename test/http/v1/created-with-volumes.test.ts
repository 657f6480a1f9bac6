/** A server that is created with volumes (API 1.7, "In POST /servers"). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

let world: World;
let api: V1Client;
let stranger: V1Client;
let order: JsonBody;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(190)));
  stranger = api.withToken(await createApiToken(await world.customer()));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
});
after(() => world.close());

async function createVolume(changes: JsonBody = {}, by = api): Promise<string> {
  const body = { name: 'data', size_gb: 10, region: 'par', ...changes };
  const created = await by.post('/volumes', body);
  assert.equal(created.status, 201, created.text);
  return created.body.id;
}
const place = async (id: string) => {
  const { attached_to, device } = (await api.get(`/volumes/${id}`)).body;
  return [attached_to, device];
};
const balance = async () => (await api.get('/billing/balance')).body.balance_usd as number;
const atDriver = async (id: string) =>
  await world.opened.db.rows<{ id: string; device: string }>(
    'select volume_id as id, device from sim.attachments where machine_id = $1 order by device',
    [parseId('server', id)],
  );
async function eventsOf(volume: string): Promise<string[]> {
  const rows = await world.opened.db.rows<{ type: string }>(
    `select type from events where type like 'volume.%' and data -> 'volume' ->> 'id' = $1 order by place`,
    [volume],
  );
  return rows.map(({ type }) => type);
}
async function refused(volumes: readonly string[], changes: JsonBody = {}): Promise<readonly string[]> {
  const response = await api.post('/servers', { ...order, ...changes, volumes });
  const [item] = assertApiError(response, 422, 'unprocessable');
  return [item.field, item.issue];
}
async function assertVerified(): Promise<void> {
  const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
}

describe('a server created with volumes', () => {
  it('has them in the order of the request, and their events follow its own', async () => {
    const [one, two] = [await createVolume(), await createVolume()];
    const created = await api.post('/servers', { ...order, volumes: [two, one, two] });
    assert.equal(created.status, 201, created.text);
    const { id } = created.body;
    assert.deepEqual(
      [await place(two), await place(one)],
      [
        [id, '/dev/vdb'],
        [id, '/dev/vdc'],
      ],
    );
    assert.deepEqual(await eventsOf(one), []);
    await world.settle();
    assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
    assert.deepEqual(
      (await atDriver(id)).map((volume) => [formatId('volume', volume.id), volume.device]),
      [
        [two, '/dev/vdb'],
        [one, '/dev/vdc'],
      ],
    );
    assert.deepEqual([await eventsOf(one), await eventsOf(two)], [['volume.attached'], ['volume.attached']]);
    const audit = await api.get('/audit/events?filter[action]=volume.attach');
    assert.equal(audit.body.data.length, 2);
    await assertVerified();
  });

  it('has them also if it is created stopped, and one can be detached before the install', async () => {
    const [kept, left] = [await createVolume(), await createVolume()];
    const created = await api.post('/servers', { ...order, start: false, volumes: [kept, left] });
    assert.equal((await api.post(`/volumes/${left}/detach`)).status, 200);
    await world.settle();
    const { id } = created.body;
    assert.equal((await api.get(`/servers/${id}`)).body.status, 'stopped');
    assert.deepEqual(
      (await atDriver(id)).map((volume) => formatId('volume', volume.id)),
      [kept],
    );
    assert.deepEqual(await place(left), [null, null]);
    await assertVerified();
  });

  it('is refused by the place of a volume that is unknown, in use, or in another region', async () => {
    const before = await balance();
    const own = await createVolume();
    const foreign = await createVolume({}, stranger);
    const missing = formatId('volume', newId(new Date()));
    for (const wrong of [foreign, missing, 'vol_1'])
      assert.deepEqual(await refused([own, wrong]), ['volumes.1', 'not_found']);
    assert.deepEqual(await refused([own, await createVolume({ region: 'zrh' })]), ['volumes.1', 'mismatch']);
    const server = (await api.get('/servers?sort=created_at')).body.data[0].id;
    assert.equal((await api.post(`/volumes/${own}/attach`, { server })).status, 200);
    assert.deepEqual(await refused([own]), ['volumes.0', 'in_use']);
    const dedicated = { plan: 'r1', region: 'zrh' };
    const elsewhere = await createVolume({ region: 'zrh' });
    assert.deepEqual(await refused([elsewhere], dedicated), ['volumes', 'unavailable']);
    const many = Array.from({ length: LIMITS.volumesPerOrderMax + 1 }, () => own);
    const response = await api.post('/servers', { ...order, volumes: many });
    const [item] = assertApiError(response, 400, 'invalid_request');
    assert.deepEqual([item.field, item.issue], ['volumes', 'max_items']);
    const quote = await api.post('/quotes', {
      operation: 'server.create',
      params: { ...order, volumes: [own] },
    });
    assert.equal(quote.body.errors[0].issue, 'in_use');
    assert.equal(await balance(), before);
  });

  it('two orders at once get a volume once', async () => {
    const volume = await createVolume();
    const answers = await Promise.all(
      ['web-3', 'web-4'].map((name) => api.post('/servers', { ...order, name, volumes: [volume] })),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 422]);
    await world.settle();
    assert.deepEqual(await eventsOf(volume), ['volume.attached']);
  });

  it('is placed only where its volumes have room', async () => {
    const volume = await createVolume();
    const before = await balance();
    const { db } = world.opened;
    // Room for the server, and for half of the volume.
    await db.run(
      `update hosts set reserve_disk_gb = disk_gb - used_disk_gb - 5
         - (select disk_gb from plans where id = 's1') where region_id = 'par'`,
    );
    assert.deepEqual(await refused([volume]), ['plan', 'unavailable']);
    assert.equal(await balance(), before);
    assert.equal((await api.post('/servers', { ...order, name: 'web-2' })).status, 201);
    await db.run('update hosts set reserve_disk_gb = 0');
    await world.settle();
  });

  it('leaves them detached if it cannot be provisioned', async () => {
    const [fresh, used] = [await createVolume(), await createVolume()];
    const server = (await api.get('/servers?sort=created_at')).body.data[0].id;
    await api.post(`/volumes/${used}/attach`, { server });
    await world.settle();
    await api.post(`/volumes/${used}/detach`);
    await world.settle();
    const before = await balance();
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
    const created = await api.post('/servers', { ...order, name: 'web-5', volumes: [fresh, used] });
    assert.equal(created.status, 201, created.text);
    await world.advance(300);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
    await world.advance(60);
    assert.equal((await api.get(`/servers/${created.body.id}`)).status, 404);
    assert.equal(await balance(), before);
    assert.deepEqual(
      [await place(fresh), await place(used)],
      [
        [null, null],
        [null, null],
      ],
    );
    await assertVerified();
  });

  it('keeps them when it is provisioned on its second host', async () => {
    const volume = await createVolume();
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1 });
    const created = await api.post('/servers', { ...order, name: 'web-6', volumes: [volume] });
    await world.settle();
    const { id } = created.body;
    assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
    assert.deepEqual(await place(volume), [id, '/dev/vdb']);
    assert.equal((await atDriver(id)).length, 1);
    await assertVerified();
  });
});
