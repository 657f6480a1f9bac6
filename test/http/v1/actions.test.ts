/** Actions (API 1.7): progress, steps, and the cause of a failure, for everything that takes time. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { ACTION_ERROR_CODES } from '../../../src/spec/action-commands.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY, UPLOAD } from './contract/estate.ts';
import { MULTIPART } from './upload-world.ts';

let world: World;
let api: V1Client;
let order: JsonBody;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(300)));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=alpine')).body.data[0].id;
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key] };
});
after(() => world.close());

type Response = Awaited<ReturnType<V1Client['get']>>;

/** The id in X-Action-Id. */
function named({ headers, text, status }: Response): string {
  assert.ok(status < 300, text);
  const id = headers.get('x-action-id');
  assert.match(id ?? '', /^act_[a-z2-7]{26}$/);
  return id ?? '';
}
const action = async (id: string): Promise<JsonBody> => {
  const { status, body, text } = await api.get(`/actions/${id}`);
  assert.equal(status, 200, text);
  return body;
};
const steps = ({ steps: list }: JsonBody): string[][] =>
  list.map(({ name, status }: JsonBody) => [name, status]);
async function createServer(): Promise<string> {
  const { body } = await api.post('/servers', order);
  await world.settle();
  return body.id;
}
async function createVolume(): Promise<string> {
  return (await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' })).body.id;
}
async function assertVerified(): Promise<void> {
  const broken = (await verify({ db: world.opened.db })).filter((result) => result.broken > 0n);
  assert.deepEqual(
    broken.map(({ invariant, examples }) => [invariant.name, examples]),
    [],
  );
}

describe('the action of a server', () => {
  it('an order is an action that runs until the server is reachable', async () => {
    const created = await api.post('/servers', order);
    const id = named(created);
    assert.deepEqual(created.body.action, { id, command: 'server.create', status: 'running', progress: 10 });
    const begun = await action(id);
    assert.equal(begun.status, 'running');
    assert.equal(begun.request_id, created.headers.get('x-request-id'));
    assert.deepEqual(begun.resources, [{ type: 'server', id: created.body.id }]);
    assert.deepEqual(steps(begun)[0], ['address', 'success']);
    await world.settle();
    const ended = await action(id);
    assert.deepEqual([ended.status, ended.progress, ended.error], ['success', 100, null]);
    assert.deepEqual(
      steps(ended),
      ['address', 'disk', 'boot', 'reachable'].map((name) => [name, 'success']),
    );
    assert.ok(ended.steps.every((step: JsonBody) => step.started_at <= step.finished_at));
    assert.equal((await api.get(`/servers/${created.body.id}`)).body.action, null);
    await assertVerified();
  });

  it('each operation on a server names its action, and the server shows it while it runs', async () => {
    const server = await createServer();
    const path = `/servers/${server}`;
    const bodies: Record<string, object> = { rebuild: {}, stop: {}, start: {}, reboot: {}, rescue: {} };
    for (const [verb, body] of Object.entries(bodies)) {
      const response = await api.post(`${path}/${verb}`, body);
      const id = named(response);
      assert.equal(response.body.action.id, id);
      assert.equal(response.body.action.command, `server.${verb}`);
      assert.equal((await api.get(path)).body.action?.command ?? `server.${verb}`, `server.${verb}`);
      await world.advance(20);
      assert.equal((await action(id)).status, 'success', verb);
    }
    const beta = { headers: { 'x-service-beta': 'true' } };
    const resized = named(await api.post(`${path}/resize`, { plan: 's2', restart: true }, beta));
    await world.advance(60);
    assert.equal((await action(resized)).status, 'success');
    const listed = (await api.get(`${path}/actions?sort=created_at`)).body.data;
    assert.deepEqual(
      listed.map(({ command }: JsonBody) => command),
      ['create', 'rebuild', 'stop', 'start', 'reboot', 'rescue', 'resize'].map((verb) => `server.${verb}`),
    );
    const deletion = named(await api.delete(path));
    await world.settle();
    assertApiError(await api.get(`${path}/actions`), 404, 'not_found');
    assert.equal((await action(deletion)).status, 'success');
    const kept = (await api.get(`/actions?filter[resource]=${server}`)).body.data;
    assert.equal(kept.length, 8);
    await assertVerified();
  });

  it('a request that is repeated with its key names the same action', async () => {
    const first = await api.post('/servers', order, { key: 'once' });
    await world.settle();
    const again = await api.post('/servers', order, { key: 'once' });
    assert.equal(named(again), named(first));
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
  });

  it('an update that begins nothing names no action', async () => {
    const server = await createServer();
    assert.equal((await api.patch(`/servers/${server}`, { name: 'web-9' })).headers.get('x-action-id'), null);
    const volume = await createVolume();
    assert.equal((await api.patch(`/volumes/${volume}`, { name: 'x' })).headers.get('x-action-id'), null);
  });

  it('an update that begins nothing does not name the action of an earlier request', async () => {
    const server = await createServer();
    const volume = await createVolume();
    await api.post(`/volumes/${volume}/attach`, { server });
    const { id: image } = (await api.raw('POST', '/images', UPLOAD, { headers: MULTIPART })).body;
    await world.settle();
    await api.put(`/servers/${server}/iso`, { image });
    await world.settle();
    const earlier: readonly [string, object, string][] = [
      [`/volumes/${volume}`, { size_gb: 20 }, 'volume.resize'],
      [`/servers/${server}`, { boot: 'iso' }, 'server.set_boot'],
    ];
    for (const [path, change, command] of earlier) {
      const id = named(await api.patch(path, change));
      const renamed = await api.patch(path, { name: 'other' });
      assert.deepEqual([renamed.body.action.id, renamed.body.action.command], [id, command]);
      assert.equal(renamed.headers.get('x-action-id'), null);
      await world.settle();
    }
  });
});

describe('an action that fails', () => {
  it('an order that no host can carry out says why, and that the money went back', async () => {
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1_000 });
    const id = named(await api.post('/servers', order));
    await world.advance(600);
    await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
    const { status, error, resources } = await action(id);
    assert.equal(status, 'error');
    assert.ok(ACTION_ERROR_CODES.includes(error.code), error.code);
    assert.match(error.message, /\$\d+\.\d\d went back to your balance\.$/);
    const removal = (await api.get(`/actions?filter[resource]=${resources[0].id}`)).body.data[0];
    assert.equal(removal.command, 'server.delete');
    await assertVerified();
  });

  it('an order that is deleted before it ran is cancelled, and its removal succeeds', async () => {
    const created = await api.post('/servers', order);
    const order_ = named(created);
    const removal = named(await api.delete(`/servers/${created.body.id}`));
    await world.settle();
    const { status, error } = await action(order_);
    assert.deepEqual([status, error.code], ['error', 'cancelled']);
    assert.match(error.message, /went back to your balance/);
    assert.equal((await action(removal)).status, 'success');
  });
});

describe('actions of volumes, snapshots, and images', () => {
  it('changes of a volume end when the driver confirms them', async () => {
    const server = await createServer();
    const created = await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' });
    assert.equal((await action(named(created))).status, 'success');
    assert.equal(created.body.action.status, 'success');
    const path = `/volumes/${created.body.id}`;
    assert.equal((await api.get(path)).body.action, null);
    const attach = named(await api.post(`${path}/attach`, { server }));
    const resize = named(await api.patch(path, { size_gb: 20 }));
    await world.settle();
    assert.equal((await action(attach)).status, 'success');
    assert.equal((await action(resize)).status, 'success');
    assert.deepEqual((await action(attach)).resources, [
      { type: 'volume', id: created.body.id },
      { type: 'server', id: server },
    ]);
    const detach = named(await api.post(`${path}/detach`));
    await world.settle();
    assert.equal((await action(detach)).status, 'success');
    const removal = named(await api.delete(path));
    await world.settle();
    assert.equal((await action(removal)).status, 'success');
    assert.equal(
      (await action(named(await api.delete(`/volumes/${await createVolume()}`)))).status,
      'success',
    );
    await assertVerified();
  });

  it('a snapshot and its deletion are actions', async () => {
    const server = await createServer();
    const created = await api.post(`/servers/${server}/snapshots`);
    const id = named(created);
    assert.equal(created.body.action.id, id);
    await world.advance(120);
    assert.equal((await action(id)).status, 'success');
    assert.equal((await api.get(`/snapshots/${created.body.id}`)).body.action, null);
    const restore = named(await api.post(`/servers/${server}/restore`, { snapshot: created.body.id }));
    await world.advance(60);
    assert.equal((await action(restore)).status, 'success');
    const removal = named(await api.delete(`/snapshots/${created.body.id}`));
    await world.settle();
    assert.equal((await action(removal)).status, 'success');
    await assertVerified();
  });

  it('an uploaded image is an action that has ended', async () => {
    const uploaded = await api.raw('POST', '/images', UPLOAD, { headers: MULTIPART });
    const ended = await action(named(uploaded));
    assert.deepEqual([ended.command, ended.status], ['image.create', 'success']);
    assert.deepEqual(ended.resources, [{ type: 'image', id: uploaded.body.id }]);
  });
});

describe('the list of actions', () => {
  it('actions are filtered by status, command, and resource, and belong to one customer', async () => {
    const server = await createServer();
    const query = `filter[status]=success&filter[command]=server.create&filter[resource]=${server}`;
    const { data } = (await api.get(`/actions?${query}`)).body;
    assert.equal(data.length, 1);
    assertApiError(await api.get('/actions?filter[status]=done'), 400, 'invalid_request');
    assert.deepEqual((await api.get('/actions?filter[resource]=srv_x')).body.data, []);
    const stranger = api.withToken(await createApiToken(await world.customer(), 'read'));
    assert.deepEqual((await stranger.get('/actions')).body.data, []);
    assertApiError(await stranger.get(`/actions/${data[0].id}`), 404, 'not_found');
    assertApiError(await stranger.get(`/servers/${server}/actions`), 404, 'not_found');
  });

  it('an action has one event, and an action is kept for 90 days', async () => {
    const { db } = world.opened;
    const counted = await db.rows<{ status: string; n: bigint }>(
      `select a.status, count(e.id) as n from actions a
         left join events e on e.type = 'action.' || a.status
          and e.data -> 'action' ->> 'created_at' is not null and e.customer_id = a.customer_id
          and (e.data -> 'action' ->> 'request_id') = a.request_id
          and (e.data -> 'action' ->> 'command') = a.command
        where a.status <> 'running' group by a.id, a.status`,
    );
    assert.ok(counted.length > 10);
    for (const { n } of counted) assert.equal(n, 1n);
  });
});
