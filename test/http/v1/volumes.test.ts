/** Volumes and snapshots over REST: statuses, invalid fields, keys, filters, and events. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { formatId, newId, parseId } from '../../../src/kernel/ids.ts';
import {
  assertApiError,
  createApiToken,
  type JsonBody,
  V1Client,
  type V1Response,
} from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

let world: World;
let api: V1Client;
let otherCustomer: V1Client;
let server: string;
let elsewhere: string;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(90)));
  otherCustomer = api.withToken(await createApiToken(await world.customer()));
  const { id: key } = made(await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }));
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  const deploy = async (region: string) =>
    made(await api.post('/servers', { name: 'web-1', plan: 's1', region, image, ssh_keys: [key] })).id;
  [server, elsewhere] = [await deploy('par'), await deploy('zrh')];
  await world.advance(10);
});
after(() => world.close());

function made({ status, body, text }: V1Response): JsonBody {
  assert.ok(status < 300, text);
  return body;
}
const volume = async (wanted = {}) =>
  made(await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par', ...wanted }));
const attach = (id: string, body: unknown, extra = {}) => api.post(`/volumes/${id}/attach`, body, extra);
const missingId = (kind: 'volume' | 'snapshot' | 'server') => formatId(kind, newId(new Date()));
/** The types of the events about this object. */
async function sentEvents(key: 'volume' | 'snapshot', id: string): Promise<string[]> {
  const rows = await world.opened.db.rows<{ type: string }>(
    `select type from events where data -> $1::text ->> 'id' = $2 order by created_at`,
    [key, id],
  );
  return rows.map(({ type }) => type);
}

describe('a volume over REST', () => {
  it('a volume is created, read, renamed, enlarged, attached, detached, and deleted', async () => {
    const answer = await api.post('/volumes', {
      name: 'data',
      size_gb: 10,
      region: 'par',
      filesystem: 'ext4',
    });
    assert.equal(answer.status, 201);
    const { id } = answer.body;
    assert.deepEqual((await api.get(`/volumes/${id}`)).body, { ...answer.body, action: null });
    const patched = await api.patch(`/volumes/${id}`, { name: 'more', size_gb: 20 });
    assert.deepEqual([patched.status, patched.body.name, patched.body.size_gb], [200, 'more', 20]);
    const attached = await attach(id, { server });
    assert.deepEqual([attached.status, attached.body.attached_to], [200, server]);
    assert.match(attached.body.device, /^\/dev\/vd[b-z]$/);
    assertApiError(await attach(id, { server }), 409, 'conflict_state');
    assertApiError(await api.delete(`/volumes/${id}`), 409, 'conflict_state');
    const [listed] = (await api.get(`/volumes?filter[attached_to]=${server}`)).body.data;
    assert.deepEqual({ ...listed, action: null }, { ...attached.body, action: null });
    const detached = await api.post(`/volumes/${id}/detach`);
    assert.deepEqual([detached.status, detached.body.attached_to, detached.body.device], [200, null, null]);
    assertApiError(await api.post(`/volumes/${id}/detach`), 409, 'conflict_state');
    const deleted = await api.delete(`/volumes/${id}`);
    assert.deepEqual([deleted.status, deleted.text], [204, '']);
    assertApiError(await api.get(`/volumes/${id}`), 404, 'not_found');
    await world.settle();
    assert.deepEqual(await sentEvents('volume', id), ['volume.attached', 'volume.detached']);
  });

  it('an invalid volume gets 400 for its shape and 422 for its meaning, with each field', async () => {
    const body = { name: 'data', size_gb: 10, region: 'par' };
    const post = async (wanted: object) =>
      assertApiError(await api.post('/volumes', { ...body, ...wanted }), 400, 'invalid_request');
    assert.deepEqual(assertApiError(await api.post('/volumes', {}), 400, 'invalid_request'), [
      { field: 'name', issue: 'required' },
      { field: 'size_gb', issue: 'required' },
      { field: 'region', issue: 'required' },
    ]);
    assert.deepEqual(await post({ size_gb: 9 }), [{ field: 'size_gb', issue: 'min', min: 10 }]);
    assert.deepEqual(await post({ size_gb: 4097 }), [{ field: 'size_gb', issue: 'max', max: 4096 }]);
    assert.equal((await post({ size_gb: 10.5 }))[0].issue, 'invalid_type');
    assert.deepEqual(await post({ name: '' }), [{ field: 'name', issue: 'min_length', min: 1 }]);
    assert.deepEqual(await post({ name: 'n'.repeat(64) }), [{ field: 'name', issue: 'max_length', max: 63 }]);
    assert.deepEqual(await post({ name: 'a\u0000' }), [{ field: 'name', issue: 'invalid_format' }]);
    assert.deepEqual(await post({ filesystem: 'a\u0000' }), [
      { field: 'filesystem', issue: 'invalid_format' },
    ]);
    assert.deepEqual(await post({ attached_to: server }), [{ field: 'attached_to', issue: 'unknown_key' }]);
    const unknown = await api.post('/volumes', { ...body, region: 'xxx' });
    assert.deepEqual(assertApiError(unknown, 422, 'unprocessable'), [
      { field: 'region', issue: 'not_found' },
    ]);
    const { id } = await volume({ size_gb: 20 });
    const smaller = await api.patch(`/volumes/${id}`, { size_gb: 19 });
    assert.deepEqual(assertApiError(smaller, 422, 'unprocessable'), [
      { field: 'size_gb', issue: 'invalid_value' },
    ]);
    const encrypted = await api.patch(`/volumes/${id}`, { encrypted: true });
    assert.deepEqual(assertApiError(encrypted, 400, 'invalid_request'), [
      { field: 'encrypted', issue: 'unknown_key' },
    ]);
    const far = await attach(id, { server: elsewhere });
    assert.deepEqual(assertApiError(far, 422, 'unprocessable'), [
      { field: 'server', issue: 'invalid_value' },
    ]);
    assert.deepEqual(assertApiError(await attach(id, {}), 400, 'invalid_request'), [
      { field: 'server', issue: 'required' },
    ]);
    for (const text of ['x', missingId('server'), id]) {
      assert.deepEqual(assertApiError(await attach(id, { server: text }), 422, 'unprocessable'), [
        { field: 'server', issue: 'not_found' },
      ]);
    }
  });

  it('another customer’s volume gets the response for an unknown one', async () => {
    const { id } = await volume();
    for (const path of [id, missingId('volume'), 'vol_x', server]) {
      assertApiError(await otherCustomer.get(`/volumes/${path}`), 404, 'not_found');
      assertApiError(await otherCustomer.patch(`/volumes/${path}`, { name: 'x' }), 404, 'not_found');
      assertApiError(await otherCustomer.delete(`/volumes/${path}`), 404, 'not_found');
      assertApiError(await otherCustomer.post(`/volumes/${path}/attach`, { server }), 404, 'not_found');
      assertApiError(await otherCustomer.post(`/volumes/${path}/detach`), 404, 'not_found');
    }
    assert.deepEqual((await otherCustomer.get('/volumes')).body.data, []);
  });

  it('a lost volume cannot grow or be attached, but can be renamed and deleted', async () => {
    const { id } = await volume();
    await world.opened.db.run('update volumes set lost_at = now() where id = $1', [parseId('volume', id)]);
    for (const refused of [await api.patch(`/volumes/${id}`, { size_gb: 20 }), await attach(id, { server })])
      assert.match(assertApiError(refused, 409, 'conflict_state') && refused.text, /was lost/);
    assert.equal(made(await api.patch(`/volumes/${id}`, { name: 'gone' })).name, 'gone');
    assert.equal((await api.delete(`/volumes/${id}`)).status, 204);
  });

  it('a volume is attached once by requests with the same key', async () => {
    const { id } = await volume();
    const key = crypto.randomUUID();
    const all = await Promise.all([1, 2, 3, 4].map(() => attach(id, { server }, { key })));
    assert.deepEqual(new Set(all.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.equal(all[0]?.status, 200);
    await world.settle();
    assert.deepEqual(await sentEvents('volume', id), ['volume.attached']);
  });
});

describe('a snapshot over REST', () => {
  const take = (body?: object, id = server) => api.post(`/servers/${id}/snapshots`, body);

  it('a snapshot is created without a body, becomes ready, and outlives its server', async () => {
    const answer = await take();
    assert.deepEqual([answer.status, answer.body.status, answer.body.server], [201, 'creating', server]);
    const { id } = answer.body;
    assertApiError(await api.delete(`/snapshots/${id}`), 409, 'conflict_state');
    await world.settle();
    const { body: ready } = await api.get(`/snapshots/${id}`);
    assert.equal(ready.status, 'ready');
    assert.ok(ready.size_gb > 0);
    assert.deepEqual(await sentEvents('snapshot', id), ['snapshot.ready']);
    assert.deepEqual((await api.get(`/snapshots?filter[server]=${server}&filter[status]=ready`)).body.data, [
      ready,
    ]);
    assert.equal((await api.delete(`/servers/${elsewhere}`)).status, 202);
    // The server is being deleted, or is already gone.
    assert.ok([404, 409].includes((await take({}, elsewhere)).status));
    await world.settle();
    assertApiError(await take({}, elsewhere), 404, 'not_found');
    assert.equal((await api.delete(`/snapshots/${id}`)).status, 204);
    assertApiError(await api.delete(`/snapshots/${id}`), 404, 'not_found');
  });

  it('a snapshot is deleted automatically on its expiry date', async () => {
    const { body: before } = await api.get('/billing/balance');
    const at = new Date(Date.parse(before.as_of) + 60_000).toISOString();
    const { id, expires_at } = made(await take({ name: 'short', expires_at: at }));
    assert.equal(expires_at, `${at.slice(0, 19)}Z`);
    await world.settle();
    assert.equal((await api.get(`/snapshots/${id}`)).status, 200);
    await world.advance(61);
    assertApiError(await api.get(`/snapshots/${id}`), 404, 'not_found');
  });

  it('an invalid snapshot is rejected with each field, and a foreign one like an unknown one', async () => {
    const wrong = async (body: object) => assertApiError(await take(body), 400, 'invalid_request');
    for (const text of ['soon', '2020-01-01T00:00:00Z', '2099-02-30T00:00:00Z']) {
      const [{ field, issue }] = await wrong({ expires_at: text });
      assert.deepEqual([field, issue], ['expires_at', 'invalid_format'], text);
    }
    assert.deepEqual(await wrong({ name: '' }), [{ field: 'name', issue: 'min_length', min: 1 }]);
    assert.deepEqual(await wrong({ status: 'ready' }), [{ field: 'status', issue: 'unknown_key' }]);
    const listed = assertApiError(await api.get('/snapshots?filter[status]=gone'), 400, 'invalid_request');
    assert.deepEqual(listed[0].allowed, ['creating', 'ready', 'error']);
    const { id } = made(await take({ name: 'mine' }));
    for (const path of [id, missingId('snapshot'), 'snap_x']) {
      assertApiError(await otherCustomer.get(`/snapshots/${path}`), 404, 'not_found');
      assertApiError(await otherCustomer.delete(`/snapshots/${path}`), 404, 'not_found');
    }
    assertApiError(await otherCustomer.post(`/servers/${server}/snapshots`), 404, 'not_found');
    await world.settle();
  });

  it('a failed snapshot has the status error', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'snapshot', times: 1 });
    const { id } = made(await take());
    await world.settle();
    assert.equal((await api.get(`/snapshots/${id}`)).body.status, 'error');
    assert.deepEqual(await sentEvents('snapshot', id), ['snapshot.failed']);
  });
});
