/**
 * A snapshot in a real S3 server outlives its host: three processes, real guests, and kills. The store is
 * away at first, so that the copy has not been made when they are killed.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { REAL_MACHINES } from '../drivers/compute/qemu/support/qemu-world.ts';
import { NO_RADOSGW, Radosgw } from '../support/radosgw.ts';
import type { JsonBody } from '../support/v1-client.ts';
import { type FleetHost, FleetWorld } from './fleet-world.ts';
import type { RealWorld } from './real-world.ts';

describe('a snapshot of a host that is lost', { skip: REAL_MACHINES.skip || NO_RADOSGW }, () => {
  let store: Radosgw;
  let fleet: FleetWorld;
  let world: RealWorld;
  let lost: FleetHost;
  let order: JsonBody;
  let snapshot: string;

  before(async () => {
    store = await Radosgw.start();
    fleet = await FleetWorld.open({ ...store.env, SKERRY_S3_SNAPSHOTS: 'true' });
    world = fleet.world;
    lost = await addHost('vm-2');
    const ssh_keys = [await world.addKey()];
    order = { name: 'web-1', plan: 's1', region: 'par', image: await world.imageId(), ssh_keys };
  });
  after(async () => {
    await fleet?.close();
    await store?.close();
  });

  async function addHost(name: string): Promise<FleetHost> {
    const host = await fleet.addHost(name);
    await world.eventually('the images arrive', async () =>
      (await world.operator('hosts', 'show', name)).includes('2 of 2'),
    );
    return host;
  }

  async function create(changes: JsonBody): Promise<JsonBody> {
    const ordered = await world.api.post('/servers', { ...order, ...changes });
    assert.equal(ordered.status, 201, ordered.text);
    return await world.waitForStatus(ordered.body.id, 'running');
  }

  it('is ready while the store is away, and copied once the host and the service are back', async () => {
    const server = await create({});
    await world.sshWithRetry(server.ipv4.address, 'echo mine >/data/file; sync');
    await store.stop();
    ({ id: snapshot } = (await world.api.post(`/servers/${server.id}/snapshots`, {})).body);
    await world.eventually('the snapshot is ready', async () => {
      const { status } = (await world.api.get(`/snapshots/${snapshot}`)).body;
      return status === 'ready';
    });
    await world.eventually('the copy fails', async () =>
      /the file store/.test(await world.operator('snapshots', 'copies')),
    );
    await world.kill();
    await lost.stop('SIGKILL');
    await store.resume();
    await lost.start();
    await world.start();
    await world.eventually('the copy is stored', async () =>
      /^1 +\d+ +0 /m.test(await world.operator('snapshots', 'copies')),
    );
    const [name = '', ...others] = await store.list();
    assert.match(name, /^skerry-[^/]+\/snapshots\//);
    assert.deepEqual(others, []);
  });

  it('boots on another host, with the file that the lost server had', async () => {
    await addHost('vm-3');
    await lost.vanish();
    await world.operator('hosts', 'lost', lost.name, '--refund', '--yes');
    assert.equal((await world.api.get(`/snapshots/${snapshot}`)).body.status, 'ready');
    const server = await create({ name: 'web-2', image: snapshot });
    assert.equal(await world.sshWithRetry(server.ipv4.address, 'cat /data/file'), 'mine');
    assert.match(await world.operator('hosts', 'show', 'vm-3'), /1 server, 1 snapshot/);
    assert.equal((await world.api.delete(`/snapshots/${snapshot}`)).status, 204);
    await world.eventually('the object is gone', async () => (await store.list()).length === 0);
  });
});
