/** A server whose disk is on storage that hosts share: it uses no disk of a host, and outlives its host. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { removeHost } from '../../../../src/domain/inventory/remote-hosts.ts';
import { moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { restoreServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { createSnapshot, deleteSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { findMove } from '../../../../src/store/servers/moves.ts';
import type { RegionWorld } from '../region-world.ts';
import { LostWorld } from './lost-world.ts';

let lost: LostWorld;
let region: RegionWorld;
before(async () => {
  lost = await LostWorld.open();
  region = lost.region;
});
after(() => lost.world.close());
beforeEach(async () => {
  await region.reset([2, 2]);
  await setStorage('shared');
});
afterEach(() => lost.world.assertInvariants());

const setStorage = (storage: 'local' | 'shared') =>
  lost.world.db.run('update regions set disk_storage = $2 where id = $1', [region.regionId, storage]);
const fail = (operation: string, times: number) =>
  lost.world.faults.set({ driver: 'compute', operation, times });
const usedDisk = async () => {
  const row = await lost.world.db.row<{ gb: number }>(
    'select sum(used_disk_gb)::int as gb from hosts where region_id = $1',
    [region.regionId],
  );
  return row?.gb;
};

describe('a server with a shared disk', () => {
  it('is sold where hosts have memory but no disk, and later servers follow the setting', async () => {
    await lost.world.db.run('update hosts set disk_gb = 1 where region_id = $1', [region.regionId]);
    const { id } = await region.running();
    assert.equal((await region.server(id)).shared_disk, true);
    assert.equal(await usedDisk(), 0);
    await setStorage('local');
    await assert.rejects(region.order(), { code: 'out_of_stock' });
    assert.equal((await region.server(id)).shared_disk, true);
  });

  it('starts elsewhere with its disk, even if the operator chose refunds', async () => {
    const { id } = await region.running();
    const host = await lost.hostOf(id);
    const before = { server: await region.server(id), machine: await region.machine(id) };
    const balance = await region.balance();
    await lost.lose(host, 'refund');
    await lost.world.runUntilIdle();
    const [server, machine] = [await region.server(id), await region.machine(id)];
    assert.equal(server.status, 'running');
    assert.notEqual(machine?.host, host);
    assert.deepEqual(machine?.installed.image, before.machine?.installed.image);
    assert.equal(machine?.installed.ipv4.address, server.ipv4);
    assert.notEqual(server.ipv4, before.server.ipv4);
    assert.deepEqual(server.paid_until, before.server.paid_until);
    assert.equal(await region.balance(), balance);
    assert.deepEqual(await region.usedHosts(), { [await lost.hostOf(id)]: 1 });
    assert.deepEqual((await region.events()).slice(-2), ['server.lost', 'server.running']);
  });

  it('is started only after its storage has fenced the lost host', async () => {
    const { id } = await region.running();
    const host = await lost.hostOf(id);
    await fail('seizeDisk', 1_000);
    await lost.lose(host, 'rebuild');
    const isRefused = async () => {
      const row = await lost.world.db.row<{ fault: string | null }>(
        'select last_fault as fault from operations where server_id = $1',
        [id],
      );
      return /simulated fault/.test(row?.fault ?? '');
    };
    await lost.workUntil(isRefused);
    assert.equal(await lost.isOnLostHost(id), true);
    await fail('seizeDisk', 0);
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
  });

  it('keeps its disk when the host that has room cannot start it at first', async () => {
    const { id } = await region.running();
    const before = await region.machine(id);
    await lost.lose(await lost.hostOf(id), 'rebuild');
    await fail('revive', 2);
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
    assert.deepEqual((await region.machine(id))?.installed.hostname, before?.installed.hostname);
  });

  it('continues its first install elsewhere', async () => {
    const id = await region.order();
    await region.runDueWork();
    await lost.lose(await lost.hostOf(id), 'rebuild');
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
  });

  it('leaves no disk on the storage when it is deleted while its host is lost', async () => {
    const { id, shown } = await region.running();
    const other = await region.running();
    const host = await lost.hostOf(id);
    await fail('seizeDisk', 1);
    await lost.lose(host, 'rebuild');
    await destroyServer(lost.world.service, region.actor, shown);
    await lost.world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await region.machine(id), undefined);
    assert.equal((await region.server(other.id)).status, 'running');
  });

  it('moves with memory reserved on its target, and no disk', async () => {
    const { id, shown } = await region.running();
    const host = await lost.hostOf(id);
    await moveServer(lost.world.service, shown, null);
    await lost.workUntil(async () => (await findMove(lost.world.db, id))?.state === 'copying');
    assert.equal(await usedDisk(), 0);
    await lost.world.assertInvariants();
    await lost.world.runUntilIdle();
    assert.notEqual(await lost.hostOf(id), host);
    assert.equal(await usedDisk(), 0);
  });

  it('has snapshots that outlive its host, and that no server with a local disk can use', async () => {
    const { id, shown } = await region.running();
    const snapshot = await createSnapshot(lost.world.service, region.actor, shown, { name: 'kept' });
    await lost.world.runUntilIdle();
    await setStorage('local');
    const local = await region.running();
    const restore = (server: string) => restoreServer(lost.world.service, region.actor, server, snapshot.id);
    await assert.rejects(restore(local.shown), { code: 'invalid_value' });
    await lost.lose(await lost.hostOf(id), 'rebuild');
    await lost.world.runUntilIdle();
    const row = await lost.world.db.row<{ status: string }>(
      `select status from snapshots where name = 'kept'`,
    );
    assert.equal(row?.status, 'ready');
    await restore(shown);
    await lost.world.runUntilIdle();
    assert.equal((await region.server(id)).status, 'running');
  });

  it('has snapshots that keep no host from being removed', async () => {
    const { world } = lost;
    const { id, shown } = await region.running();
    const { id: snapshot } = await createSnapshot(world.service, region.actor, shown, {});
    const snapshotId = parseId('snapshot', snapshot);
    await world.runUntilIdle();
    const maker = await lost.hostOf(id);
    await destroyServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    await world.db.run(
      `insert into backends (name, kind, address, fingerprint, region_id, state, created_at)
       values ($1, 'host', 'host.example:7443', repeat('ab', 32), $2, 'active', $3)`,
      [maker, region.regionId, world.clock.now()],
    );
    await world.db.run('update hosts set backend = name where name = $1', [maker]);
    await world.db.run(`insert into placed_resources (kind, id, backend) values ('snapshot', $1, $2)`, [
      snapshotId,
      maker,
    ]);
    // The host that leaves would be the better one to take the snapshot.
    await world.db.run('update hosts set draining = true where region_id = $1 and name <> $2', [
      region.regionId,
      maker,
    ]);
    await removeHost(world.service, maker);
    const places = await world.db.rows('select backend from placed_resources');
    assert.deepEqual(places, [{ backend: 'local' }]);
    await deleteSnapshot(world.service, region.actor, snapshot);
    await world.runUntilIdle();
    const left = await world.simulator.snapshots();
    assert.ok(left.every((each) => each.id !== snapshotId));
  });
});
