/** A server that is created stopped (API 1.7, "In POST /servers"). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { verify } from '../../../src/domain/verify/verify.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { assertApiError, createApiToken, type JsonBody, V1Client } from '../../support/v1-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { NO_RATES, PUBLIC_KEY } from './contract/estate.ts';

let world: World;
let api: V1Client;
let order: JsonBody;

before(async () => {
  world = await startWorld(NO_RATES);
  api = V1Client.forApp(world.http, await createApiToken(await world.customer(90)));
  const { id: key } = (await api.post('/ssh-keys', { name: 'laptop', public_key: PUBLIC_KEY })).body;
  const image = (await api.get('/images?family=debian')).body.data.find(
    (each: JsonBody) => each.deprecated_at === null,
  ).id;
  const user_data_b64 = Buffer.from('#cloud-config\n').toString('base64');
  order = { name: 'web-1', plan: 's1', region: 'par', image, ssh_keys: [key], user_data_b64, start: false };
});
after(() => world.close());

async function createStopped(): Promise<string> {
  const created = await api.post('/servers', order);
  assert.equal(created.status, 201, created.text);
  await world.settle();
  return created.body.id;
}
const show = async (id: string) => (await api.get(`/servers/${id}`)).body;
async function eventsOf(id: string): Promise<string[]> {
  const rows = await world.opened.db.rows<{ type: string }>(
    `select type from events where type like 'server.%' and data -> 'server' ->> 'id' = $1 order by place`,
    [id],
  );
  return rows.map(({ type }) => type);
}
const readSecrets = async (id: string) =>
  await world.opened.db.row<{ sealed: boolean; never_started: boolean }>(
    'select user_data_sealed is not null as sealed, never_started from servers where id = $1',
    [parseId('server', id)],
  );

describe('a server created with start: false', () => {
  it('is stopped, with its addresses, and its machine was never on', async () => {
    const id = await createStopped();
    const { status, ipv4 } = await show(id);
    assert.equal(status, 'stopped');
    assert.match(ipv4.address, /^\d+\./);
    assert.deepEqual(await eventsOf(id), ['server.created', 'server.stopped']);
    const machine = await world.opened.db.row<{ was_on: boolean }>(
      'select off_at > booted_at or not isempty(was_on) as was_on from sim.machines where id = $1',
      [parseId('server', id)],
    );
    assert.equal(machine?.was_on, false);
  });

  it('its first start installs it, and then deletes the secrets of the install', async () => {
    const id = await createStopped();
    assert.deepEqual(await readSecrets(id), { sealed: true, never_started: true });
    assert.equal((await api.post(`/servers/${id}/start`)).status, 202);
    await world.settle();
    assert.equal((await show(id)).status, 'running');
    assert.deepEqual(await readSecrets(id), { sealed: false, never_started: false });
    assert.deepEqual(await eventsOf(id), ['server.created', 'server.stopped']);
  });

  it('has no snapshot before that, and can be rebuilt', async () => {
    const id = await createStopped();
    const refused = await api.post(`/servers/${id}/snapshots`, {});
    assertApiError(refused, 409, 'conflict_state');
    assert.match(refused.body.error.message, /never started/);
    assert.equal((await api.post(`/servers/${id}/rebuild`, {})).status, 202);
    await world.settle();
    assert.equal((await show(id)).status, 'running');
    assert.equal((await api.post(`/servers/${id}/snapshots`, {})).status, 201);
  });
});

it('the books and the inventory are right', async () => {
  const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
  assert.deepEqual(broken, []);
});
