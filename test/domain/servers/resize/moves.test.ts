import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, it, mock } from 'node:test';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { attachVolume } from '../../../../src/domain/volumes/attach.ts';
import { createVolume } from '../../../../src/domain/volumes/change.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { findMove } from '../../../../src/store/servers/moves.ts';
import { ResizeWorld, refused } from './resize-world.ts';

let resizes: ResizeWorld;
let from: string;
before(async () => {
  resizes = await ResizeWorld.open();
});
after(() => resizes.world.close());
beforeEach(async () => {
  await resizes.reset([1]);
  from = await resizes.hostOf();
});
afterEach(async () => {
  mock.restoreAll();
  await resizes.world.assertInvariants();
});

const addHost = async (rooms: number) => {
  const [name = ''] = await resizes.world.fixtures.addHosts([rooms], resizes.region.regionId);
  return name;
};
const usedHosts = () => resizes.region.usedHosts();

/** Runs due work until the condition holds, and checks the invariants each time. */
async function workUntil(reached: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 300; round++) {
    await resizes.region.runDueWork();
    await resizes.world.assertInvariants();
    if (await reached()) return;
    resizes.world.clock.advanceS(0.5);
  }
  assert.fail('the condition does not hold');
}

it('a server whose host has no room moves to another one, with its volumes', async () => {
  const to = await addHost(5);
  const { id: volume } = await createVolume(resizes.world.service, resizes.region.actor, {
    name: 'data',
    size_gb: 10,
    region: resizes.region.regionId,
  });
  await resizes.world.db.run('update hosts set disk_gb = 20 where name = $1', [from]);
  await attachVolume(resizes.world.service, resizes.region.actor, volume, { server: resizes.shown });
  await resizes.world.runUntilIdle();
  await resizes.resize({ plan: 's2', resize_disk: true, restart: true });
  assert.deepEqual(await usedHosts(), { [from]: 1, [to]: 2 });
  await workUntil(async () => (await resizes.events()).includes('server.rebooted'));
  await resizes.world.runUntilIdle();
  assert.equal(await resizes.hostOf(), to);
  assert.deepEqual(await resizes.machine(), [2048, 20, 'running']);
  assert.deepEqual(await usedHosts(), { [to]: 2 });
  const row = await resizes.world.db.row(
    'select h.name from volumes v join hosts h on h.id = v.host_id where v.id = $1',
    [parseId('volume', volume)],
  );
  assert.deepEqual(row, { name: to });
  assert.equal(await findMove(resizes.world.db, resizes.id), undefined);
});

it('a move that fails puts back the plan and the money, and is not tried again', async () => {
  await addHost(5);
  const before = await resizes.region.balance();
  await resizes.world.faults.set({ driver: 'compute', operation: 'moves.send', times: 1 });
  await resizes.resized({ plan: 's2', resize_disk: true });
  assert.equal(await resizes.hostOf(), from);
  assert.deepEqual(await resizes.machine(), [1024, 10, 'running']);
  assert.deepEqual(await usedHosts(), { [from]: 1 });
  assert.equal(await resizes.region.balance(), before);
  assert.equal(await findMove(resizes.world.db, resizes.id), undefined);
});

it('a resize that fails on the other host stays there with the previous plan', async () => {
  const to = await addHost(5);
  const { compute } = resizes.world.service;
  const real = compute.resize.bind(compute);
  let calls = 0;
  mock.method(compute, 'resize', async (...args: Parameters<typeof real>) => {
    if (calls++ === 0) throw new ComputeError('host', 'no room');
    return await real(...args);
  });
  const before = await resizes.region.balance();
  await resizes.resized({ plan: 's2', resize_disk: true });
  assert.equal(await resizes.hostOf(), to);
  assert.deepEqual(await resizes.machine(), [1024, 10, 'running']);
  assert.deepEqual(await usedHosts(), { [to]: 1 });
  assert.equal(await resizes.region.balance(), before);
});

it('a server that is deleted during its move leaves nothing on either host', async () => {
  await addHost(5);
  await resizes.resize({ plan: 's2', restart: true });
  await workUntil(async () => (await findMove(resizes.world.db, resizes.id))?.total_bytes !== 0n);
  await destroyServer(resizes.world.service, resizes.region.actor, resizes.shown);
  await resizes.world.runUntilIdle();
  assert.deepEqual(await usedHosts(), {});
  assert.equal(await resizes.region.isGone(resizes.id), true);
});

it('a server that no host has room for stays as it is', async () => {
  await addHost(1);
  assert.deepEqual(await refused(resizes.resize({ plan: 's3', restart: true })), ['out_of_stock', undefined]);
  assert.equal(await findMove(resizes.world.db, resizes.id), undefined);
});

it('a draining host lets a server become smaller, and a larger one leaves it', async () => {
  const to = await addHost(5);
  await resizes.resized({ plan: 's2' });
  assert.equal(await resizes.hostOf(), to);
  await resizes.world.db.run('update hosts set draining = true where name = $1', [to]);
  await resizes.resized({ plan: 's1' });
  assert.equal(await resizes.hostOf(), to);
  const third = await addHost(5);
  await resizes.resized({ plan: 's2' });
  assert.equal(await resizes.hostOf(), third);
});
