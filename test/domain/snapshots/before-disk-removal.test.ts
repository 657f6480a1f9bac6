/** An acknowledged snapshot is created before its server loses the disk. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, mock, test } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { rebuildServer, restoreServer } from '../../../src/domain/servers/operations/reinstall.ts';
import { createSnapshot } from '../../../src/domain/snapshots/change.ts';
import { getSnapshot } from '../../../src/domain/snapshots/read.ts';
import { createSshKey } from '../../../src/domain/ssh-keys/change.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import { ComputeError } from '../../../src/ports/compute.ts';
import { findServer } from '../../../src/store/servers/servers.ts';
import { type VolumeWorld, volumeWorld } from '../volumes/volume-world.ts';

const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhY';
let world: VolumeWorld;
let actor: CustomerActor;
let server: string;
let key: string;

before(async () => {
  world = await volumeWorld();
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer(100_000n);
  key = (await createSshKey(world.service, actor, { name: 'key', public_key: PUBLIC_KEY })).id;
  server = await world.server(actor, await world.region());
});
afterEach(() => mock.restoreAll());

const snapshot = async () => (await createSnapshot(world.service, actor, server, {})).id;
const statusOf = async (id: string) => (await getSnapshot(world.service, actor, id)).status;
const generation = async () =>
  (await world.simulator.machines()).find(({ id }) => id === parseId('server', server))?.generation;
const readServer = () => findServer(world.db, parseId('server', server) ?? '');

/** Records the snapshot's status at each driver call that removes the disk. */
function statusesAtCall(verb: 'rebuild' | 'restore' | 'remove', id: string): string[] {
  const seen: string[] = [];
  const { compute } = world.service;
  const original = compute[verb].bind(compute) as (...args: unknown[]) => Promise<void>;
  mock.method(compute, verb, async (...args: unknown[]) => {
    seen.push(await statusOf(id));
    await original(...args);
  });
  return seen;
}

test('a rebuild starts when the snapshots requested before it are ready', async () => {
  const id = await snapshot();
  const seen = statusesAtCall('rebuild', id);
  await rebuildServer(world.service, actor, server, { ssh_keys: [key] });
  await world.runUntilIdle();
  assert.deepEqual([...new Set(seen)], ['ready']);
  assert.deepEqual([(await readServer())?.status, await generation()], ['running', 2]);
  assert.deepEqual(await world.recordedEvents(id), ['snapshot.ready ready']);
});

test('a restore starts when the snapshots requested before it are ready', async () => {
  const older = await snapshot();
  await world.runUntilIdle();
  const id = await snapshot();
  const seen = statusesAtCall('restore', id);
  await restoreServer(world.service, actor, server, older);
  await world.runUntilIdle();
  assert.deepEqual([[...new Set(seen)], (await readServer())?.status], [['ready'], 'running']);
});

test('a destroyed server is removed when its snapshot is ready, and the snapshot stays', async () => {
  const id = await snapshot();
  const seen = statusesAtCall('remove', id);
  await destroyServer(world.service, actor, server);
  await world.runUntilIdle();
  assert.deepEqual([[...new Set(seen)], await readServer()], [['ready'], undefined]);
  assert.equal(await statusOf(id), 'ready');
  await world.assertInvariants();
});

test('a snapshot that does not start within a minute blocks nothing and ends in error', async () => {
  mock.method(world.service.compute, 'snapshot', async () => {
    throw new ComputeError('host', 'no room');
  });
  const id = await snapshot();
  await rebuildServer(world.service, actor, server, { ssh_keys: [key] });
  await world.runDueTasks();
  assert.equal((await readServer())?.status, 'installing');
  world.clock.advanceS(59);
  await world.runDueTasks();
  assert.deepEqual([(await readServer())?.status, await statusOf(id)], ['installing', 'creating']);
  world.clock.advanceS(1);
  await world.runUntilIdle();
  assert.deepEqual([(await readServer())?.status, await statusOf(id)], ['running', 'error']);
  await destroyServer(world.service, actor, server);
  await world.runUntilIdle();
  assert.equal(await readServer(), undefined);
});
