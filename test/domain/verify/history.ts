/** A history for `verify`: credits and reversals, both kinds of servers, a refunded failure, stored data. */
import assert from 'node:assert/strict';
import { loseHost as giveUpHost } from '../../../src/domain/inventory/lost-hosts.ts';
import { moveEverythingOff, moveServer } from '../../../src/domain/servers/moves/queue.ts';
import { isoFile } from '../../support/iso.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { topUp, type World } from '../../support/world.ts';

const DEPLOY = {
  product: 'vps',
  plan: 's1',
  region: 'par',
  os: 'debian',
  billing: 3,
  root_password: 'a root password',
};

export async function createHistory(world: World): Promise<void> {
  const customer = await world.customer();
  await topUp(world, customer, 500);
  await topUp(world, customer, 40);
  for (const server of [{}, { region: 'zrh', plan: 's2' }, { product: 'dedi', plan: 'r1', os: 'freebsd' }]) {
    await deploy(customer, { ...DEPLOY, ...server });
  }
  await world.settle();
  const api = V1Client.forUrl(world.url, await createApiToken(customer, 'write'));
  await createStoredData(api);
  await insertIso(world, api);
  await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 1000 });
  await deploy(customer, DEPLOY);
  await world.advance(3600);
  await world.sandbox('faults', { driver: 'compute', operation: 'ensure', times: 0 });
  const other = await world.customer();
  await topUp(world, other, 120, 'XMR');
  await world.sandbox('reorgs', { coin: 'XMR', depth: 30, drop: true });
  await world.settle();
  await topUp(world, other, 120, 'XMR');
  await loseHost(world, customer);
  await startMove(world, customer);
  // Without a store, nothing else makes a copy. A snapshot that expires has a task until then.
  await world.opened.db.run(
    `insert into snapshot_copies (snapshot_id, size_bytes, sha256, stored_at, due_at)
     select id, 1, repeat('0', 64), now(), null from snapshots n where status = 'ready'
        and not exists (select from tasks where kind = 'snapshot' and subject = n.id)
      order by id desc limit 1`,
  );
}

/** Gives up the host of a server with a volume and a snapshot, and does not fence it. */
async function loseHost(world: World, customer: SessionClient): Promise<void> {
  await deploy(customer, { ...DEPLOY, region: 'rek' });
  await world.settle();
  const api = V1Client.forUrl(world.url, await createApiToken(customer, 'write'));
  const [server] = (await api.get('/servers?filter[region]=rkv')).body.data;
  const volume = await api.post('/volumes', { name: 'lost', size_gb: 10, region: 'rkv' });
  await api.post(`/volumes/${volume.body.id}/attach`, { server: server.id });
  await api.post(`/servers/${server.id}/snapshots`);
  await world.settle();
  const { service, db } = world.opened;
  const host = await db.row<{ name: string }>(
    `select h.name from servers s join hosts h on h.id = s.host_id where s.region_id = 'rkv'`,
  );
  assert.ok(host);
  await giveUpHost(service, host.name, 'refund');
  await world.settle();
  assert.equal((await api.get('/servers?filter[region]=rkv')).body.data.length, 0);
}

/** Moves the server with the volume, and leaves the move where the target has yet to take over. */
async function startMove(world: World, customer: SessionClient): Promise<void> {
  const api = V1Client.forUrl(world.url, await createApiToken(customer, 'read'));
  const [server] = (await api.get('/servers?filter[region]=par&filter[plan]=s1&filter[status]=running')).body
    .data;
  await world.sandbox('faults', { driver: 'compute', operation: 'moves.takeOver', times: 1000 });
  await moveServer(world.opened.service, server.id, null);
  await world.advance(60);
  const found = await world.opened.db.row<{ n: number }>(
    `select count(*)::integer as n from moves where state = 'switched' and volume_ids <> '{}'`,
  );
  assert.equal(found?.n, 1, 'a server with a volume moves');
  await moveSnapshots(world);
}

/** Empties the host that the server leaves, where its snapshots are. Their targets have yet to take over. */
async function moveSnapshots(world: World): Promise<void> {
  const { db, service } = world.opened;
  const from = await db.row<{ name: string }>(
    'select h.name from moves m join hosts h on h.id = m.from_host limit 1',
  );
  await moveEverythingOff(service, from?.name ?? assert.fail('nothing moves'), 8);
  await world.advance(60);
  const moving = await db.row(`select from moves where kind = 'snapshot' and state = 'switched' limit 1`);
  assert.ok(moving, 'a snapshot moves');
}

/** Creates an attached volume, two snapshots, one with an expiry, a firewall group, and what watches them. */
async function createStoredData(api: V1Client): Promise<void> {
  const [server] = (await api.get('/servers?filter[region]=par&filter[plan]=s1')).body.data;
  const volume = await api.post('/volumes', { name: 'data', size_gb: 10, region: 'par' });
  const responses = [
    // No one responds there, so deliveries stay pending.
    await api.post('/webhooks', { url: 'https://127.0.0.1:1/', events: ['*'] }),
    await api.post(`/volumes/${volume.body.id}/attach`, { server: server.id }),
    await api.post(`/servers/${server.id}/snapshots`),
    await api.post(`/servers/${server.id}/snapshots`, { expires_at: '2099-01-31T12:00:00Z' }),
    await api.post('/firewall/groups', { name: 'web', default_action: 'drop', applied_to: [server.id] }),
    // It fires: the load of a simulated machine is above 0.
    await api.post('/alerts', { name: 'load', metric: 'cpu_pct', value: 0, servers: [server.id] }),
    await api.put(`/servers/${server.id}/backup-policy`, { enabled: true }),
    await api.post('/account/tokens', { name: 'ci', scope: 'read', limits: { max_servers: 1 } }),
  ];
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 200, 201, 201, 201, 201, 200, 201],
  );
}

/** Inserts an uploaded image into the server that stays where it is. */
async function insertIso(world: World, api: V1Client): Promise<void> {
  const body = new FormData();
  for (const name of ['name', 'version']) body.append(name, '1');
  body.append('file', new Blob([new Uint8Array(isoFile())]), 'image.iso');
  const init = { method: 'POST', body, headers: { authorization: `Bearer ${api.token}` } };
  const { id: image } = (await (await fetch(`${world.url}/v1/images`, init)).json()) as { id: string };
  const [server] = (await api.get('/servers?filter[region]=zrh')).body.data;
  const inserted = await api.put(`/servers/${server.id}/iso`, { image });
  assert.equal(inserted.status, 202, inserted.text);
}

async function deploy(customer: SessionClient, fields: typeof DEPLOY): Promise<void> {
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const { body, text } = await customer.post('/deploy-api.php', fields, { headers });
  assert.equal(body.ok, true, text);
}
