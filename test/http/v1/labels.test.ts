/** Labels of volumes and snapshots over REST. Those of servers are in servers.test.ts. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
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
let server: string;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(90)));
  const { id: key } = made(await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY }));
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  const order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
  server = made(await api.post('/servers', { ...order, labels: { env: 'prod' } })).id;
  await world.advance(10);
});
after(() => world.close());

function made({ status, body, text }: V1Response): JsonBody {
  assert.ok(status < 300, text);
  return body;
}
const createVolume = (labels?: unknown) =>
  api.post('/volumes', { name: 'data', size_gb: 10, region: 'par', ...(labels ? { labels } : {}) });
const createSnapshot = (labels?: unknown) =>
  api.post(`/servers/${server}/snapshots`, labels ? { labels } : {});
/** Labels of an object in its events, which webhooks and the event stream show. */
async function labelsInEvents(key: 'volume' | 'snapshot', id: string): Promise<JsonBody[]> {
  const rows = await world.opened.db.rows<{ labels: JsonBody }>(
    `select data -> $1::text -> 'labels' as labels from events where data -> $1::text ->> 'id' = $2`,
    [key, id],
  );
  return rows.map(({ labels }) => labels);
}

describe('labels', () => {
  it('a volume has the labels of its creation until PATCH replaces them as a whole', async () => {
    const labels = { env: 'prod', __proto: '', tier: 'a:b' };
    const volume = made(await createVolume(labels));
    assert.deepEqual(volume.labels, labels);
    assert.deepEqual(made(await api.get(`/volumes/${volume.id}`)).labels, labels);
    assert.deepEqual(made(await api.patch(`/volumes/${volume.id}`, { name: 'more' })).labels, labels);
    const patched = made(await api.patch(`/volumes/${volume.id}`, { labels: { team: 'blue' } }));
    assert.deepEqual([patched.name, patched.labels], ['more', { team: 'blue' }]);
    made(await api.post(`/volumes/${volume.id}/attach`, { server }));
    await world.settle();
    assert.deepEqual(await labelsInEvents('volume', volume.id), [{ team: 'blue' }]);
    assert.deepEqual(made(await api.patch(`/volumes/${volume.id}`, { labels: {} })).labels, {});
    assert.deepEqual(made(await createVolume()).labels, {});
  });

  it('a snapshot keeps the labels of its creation, and does not get those of its server', async () => {
    const snapshot = made(await createSnapshot({ kind: 'nightly' }));
    assert.deepEqual(snapshot.labels, { kind: 'nightly' });
    await world.settle();
    assert.deepEqual(made(await api.get(`/snapshots/${snapshot.id}`)).labels, { kind: 'nightly' });
    assert.deepEqual(await labelsInEvents('snapshot', snapshot.id), [{ kind: 'nightly' }]);
    assert.deepEqual(made(await createSnapshot()).labels, {});
  });

  it('labels of volumes and snapshots obey the rules of labels of servers', async () => {
    const pairs = (n: number) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`k${i}`, '']));
    const { id } = made(await createVolume(pairs(32)));
    const requests = {
      'POST /volumes': createVolume,
      'PATCH /volumes': (labels: unknown) => api.patch(`/volumes/${id}`, { labels }),
      'POST /snapshots': createSnapshot,
      'PATCH /servers': (labels: unknown) => api.patch(`/servers/${server}`, { labels }),
    };
    const wrong: [labels: unknown, field: string, issue: string][] = [
      [{ 'A b': 'x' }, 'labels.A b', 'invalid_format'],
      [{ 'a:b': 'x' }, 'labels.a:b', 'invalid_format'],
      [{ a: 1 }, 'labels.a', 'invalid_type'],
      [{ a: 'x'.repeat(256) }, 'labels.a', 'max_length'],
      [{ a: 'x\u0007' }, 'labels.a', 'invalid_format'],
      [pairs(33), 'labels', 'max_items'],
      [['env'], 'labels', 'invalid_type'],
    ];
    for (const [request, send] of Object.entries(requests)) {
      for (const [labels, field, issue] of wrong) {
        const items = assertApiError(await send(labels), 400, 'invalid_request');
        assert.deepEqual(
          items.map((item) => [item.field, item.issue]),
          [[field, issue]],
          `${request} ${field}`,
        );
      }
    }
  });
});
