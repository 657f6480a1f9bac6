/** Protection of servers, volumes, and snapshots (API 1.7, "Protection"). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

const UNPROTECTED = { delete: false, rebuild: false };

let world: World;
let api: V1Client;
let order: JsonBody;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(200)));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
});
after(() => world.close());

/** A time of the service's clock. */
const at = (seconds: number) => new Date(world.opened.clock.now().getTime() + seconds * 1_000).toISOString();

async function createServer(more: object = {}): Promise<string> {
  const { status, body, text } = await api.post('/servers', { ...order, ...more });
  assert.equal(status, 201, text);
  await world.settle();
  return body.id;
}
async function createSnapshot(server: string, more: object = {}): Promise<JsonBody> {
  const { status, body, text } = await api.post(`/servers/${server}/snapshots`, more);
  assert.equal(status, 201, text);
  await world.settle();
  return body;
}
const protect = async (path: string, protection: object) => {
  const { status, body, text } = await api.patch(path, { protection });
  assert.equal(status, 200, text);
  return body.protection as object;
};
function assertProtected(response: Parameters<typeof assertApiError>[0], field: string): void {
  assert.deepEqual(assertApiError(response, 409, 'conflict_state'), [{ field, issue: 'protected' }]);
}

describe('a protected server', () => {
  it('a server is unprotected unless its order says otherwise, and a change keeps the rest', async () => {
    const id = await createServer();
    assert.deepEqual((await api.get(`/servers/${id}`)).body.protection, UNPROTECTED);
    assert.deepEqual(await protect(`/servers/${id}`, { rebuild: true }), { delete: false, rebuild: true });
    assert.deepEqual(await protect(`/servers/${id}`, { delete: true }), { delete: true, rebuild: true });
    assert.deepEqual(await protect(`/servers/${id}`, {}), { delete: true, rebuild: true });
    const { body } = await api.patch(`/servers/${id}`, { name: 'web-9' });
    assert.deepEqual(body.protection, { delete: true, rebuild: true });
    const other = await api.post('/servers', { ...order, protection: { delete: true } });
    assert.deepEqual(other.body.protection, { delete: true, rebuild: false });
    const [item] = assertApiError(
      await api.patch(`/servers/${id}`, { protection: { stop: true } }),
      400,
      'invalid_request',
    );
    assert.deepEqual([item.field, item.issue], ['protection.stop', 'unknown_key']);
  });

  it('deletion is refused until the protection is lifted', async () => {
    const id = await createServer({ protection: { delete: true } });
    assertProtected(await api.delete(`/servers/${id}`), 'protection.delete');
    assert.equal((await api.get(`/servers/${id}`)).body.status, 'running');
    assert.equal((await api.post(`/servers/${id}/rebuild`)).status, 202);
    await world.settle();
    await protect(`/servers/${id}`, { delete: false });
    assert.equal((await api.delete(`/servers/${id}`)).body.status, 'destroying');
  });

  it('rebuild and restore are refused, and stopping and snapshots are not', async () => {
    const id = await createServer({ protection: { rebuild: true } });
    const { id: snapshot } = await createSnapshot(id);
    assertProtected(await api.post(`/servers/${id}/rebuild`), 'protection.rebuild');
    assertProtected(await api.post(`/servers/${id}/restore`, { snapshot }), 'protection.rebuild');
    assert.equal((await api.post(`/servers/${id}/stop`)).status, 202);
    await world.settle();
    await protect(`/servers/${id}`, { rebuild: false });
    assert.equal((await api.post(`/servers/${id}/restore`, { snapshot })).status, 202);
    await world.settle();
    assert.equal((await api.delete(`/servers/${id}`)).status, 202);
  });

  it('a server that the operator froze can still be unprotected, which its deletion needs', async () => {
    const id = await createServer({ protection: { delete: true } });
    const frozen = { status: 'suspended', reason: 'operator', id: parseId('server', id) };
    await world.opened.db.run(
      `update servers set status = $status, suspended_reason = $reason where id = $id`,
      frozen,
    );
    assertApiError(await api.patch(`/servers/${id}`, { name: 'web-2' }), 409, 'conflict_state');
    assertProtected(await api.delete(`/servers/${id}`), 'protection.delete');
    await protect(`/servers/${id}`, { delete: false });
    assert.equal((await api.delete(`/servers/${id}`)).status, 202);
  });

  it('a deletion that has begun is confirmed again', async () => {
    const id = await createServer();
    await world.opened.db.run(
      `update servers set protect_delete = true, status = 'destroying' where id = $1`,
      [parseId('server', id)],
    );
    assert.equal((await api.delete(`/servers/${id}`)).body.status, 'destroying');
    assertApiError(
      await api.patch(`/servers/${id}`, { protection: { delete: false } }),
      409,
      'conflict_state',
    );
  });
});

describe('a protected volume', () => {
  it('it can be attached, grown, and detached, but not deleted', async () => {
    const server = await createServer();
    const made = await api.post('/volumes', {
      name: 'data',
      size_gb: 10,
      region: 'par',
      protection: { delete: true },
    });
    assert.deepEqual([made.status, made.body.protection], [201, { delete: true }]);
    const path = `/volumes/${made.body.id}`;
    assertProtected(await api.delete(path), 'protection.delete');
    assert.equal((await api.post(`${path}/attach`, { server })).status, 200);
    assert.equal((await api.patch(path, { size_gb: 20 })).body.protection.delete, true);
    assert.equal((await api.post(`${path}/detach`)).status, 200);
    await world.settle();
    assertProtected(await api.delete(path), 'protection.delete');
    assert.deepEqual(await protect(path, { delete: false }), { delete: false });
    assert.equal((await api.delete(path)).status, 204);
  });
});

describe('a snapshot that is changed', () => {
  it('its name and expiry change, and each omitted field stays', async () => {
    const snapshot = await createSnapshot(await createServer(), { name: 'first' });
    const path = `/snapshots/${snapshot.id}`;
    const named = await api.patch(path, { name: 'second' });
    assert.deepEqual([named.status, named.body.name, named.body.expires_at], [200, 'second', null]);
    const expires_at = '2099-01-31T12:00:00Z';
    assert.deepEqual((await api.patch(path, { expires_at })).body, {
      ...named.body,
      expires_at,
    });
    assert.equal((await api.patch(path, {})).body.expires_at, expires_at);
    assert.equal((await api.patch(path, { expires_at: null })).body.expires_at, null);
    const [item] = assertApiError(
      await api.patch(path, { expires_at: '2001-01-01T00:00:00Z' }),
      400,
      'invalid_request',
    );
    assert.equal(item.field, 'expires_at');
    const audit = await api.get(
      `/audit/events?filter[resource]=${snapshot.id}&filter[action]=snapshot.update`,
    );
    assert.equal(audit.body.data.length, 5);
  });

  it('a protected snapshot is not deleted, not even when it expires', async () => {
    const server = await createServer();
    const expires_at = at(60);
    const { id } = await createSnapshot(server, { expires_at, protection: { delete: true } });
    const path = `/snapshots/${id}`;
    assertProtected(await api.delete(path), 'protection.delete');
    await world.advance(600);
    const found = await verify(world.opened.service);
    const broken = found.filter((one) => one.broken > 0n && one.invariant.source === 'snapshots');
    assert.deepEqual(broken, []);
    const kept = (await api.get(path)).body;
    assert.equal(kept.protection.delete, true);
    // The time that has passed is accepted as long as it stays.
    const renamed = await api.patch(path, { name: 'kept', expires_at: kept.expires_at });
    assert.deepEqual([renamed.body.name, renamed.body.expires_at], ['kept', kept.expires_at]);
    assertApiError(await api.patch(path, { expires_at: at(-3_600) }), 400, 'invalid_request');
    await protect(path, { delete: false });
    await world.settle();
    assertApiError(await api.get(path), 404, 'not_found');
  });

  it('a later expiry replaces the earlier one', async () => {
    const { id } = await createSnapshot(await createServer(), { expires_at: at(60) });
    assert.equal((await api.patch(`/snapshots/${id}`, { expires_at: at(3_600) })).status, 200);
    await world.advance(600);
    assert.equal((await api.get(`/snapshots/${id}`)).status, 200);
    await world.advance(3_600);
    assertApiError(await api.get(`/snapshots/${id}`), 404, 'not_found');
  });
});
