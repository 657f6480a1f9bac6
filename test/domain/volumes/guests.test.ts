/**
 * Limits of guests and hardware: a guest may finish writing before a volume is removed, and volumes must fit.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, mock, test } from 'node:test';
import type { CustomerActor } from '../../../src/domain/context.ts';
import { startServer, stopServer } from '../../../src/domain/servers/operations/power.ts';
import { attachVolume, detachVolume } from '../../../src/domain/volumes/attach.ts';
import { parseId } from '../../../src/kernel/ids.ts';
import type { PowerAction } from '../../../src/ports/compute.ts';
import { refusal, type VolumeWorld, volumeWorld } from './volume-world.ts';

let world: VolumeWorld;
let actor: CustomerActor;
let region: string;
let server: string;

before(async () => {
  world = await volumeWorld();
});
after(() => world.close());
beforeEach(async () => {
  actor = await world.fixtures.addCustomer(100_000n);
  region = await world.region();
  server = await world.server(actor, region);
});
afterEach(async () => {
  mock.restoreAll();
  await world.assertInvariants();
});

const detach = (id: string) => detachVolume(world.service, actor, id);
async function attached(): Promise<string> {
  const id = await world.volume(actor, region);
  await attachVolume(world.service, actor, id, { server });
  await world.runUntilIdle();
  return id;
}

test('a volume that is detached during a shutdown leaves the guest when it is off', async () => {
  const id = await attached();
  await world.simulator.setIgnoresShutdown(parseId('server', server) ?? '', true);
  await stopServer(world.service, actor, server);
  assert.equal((await detach(id)).attached_to, null);
  for (const seconds of [0, 30, 29]) {
    world.clock.advanceS(seconds);
    await world.runDueTasks();
    assert.equal(await world.attachment(id), `${server} /dev/vdb`);
  }
  assert.deepEqual((await world.recordedEvents(id)).length, 1);
  await world.runUntilIdle();
  assert.equal(await world.attachment(id), null);
  assert.deepEqual((await world.recordedEvents(id)).slice(1), ['volume.detached']);
});

test('a volume that is moved during a shutdown leaves the guest when it is off', async () => {
  const id = await attached();
  const other = await world.server(actor, region);
  await world.simulator.setIgnoresShutdown(parseId('server', server) ?? '', true);
  await stopServer(world.service, actor, server);
  await detach(id);
  await attachVolume(world.service, actor, id, { server: other });
  world.clock.advanceS(59);
  await world.runDueTasks();
  assert.equal(await world.attachment(id), `${server} /dev/vdb`);
  await world.runUntilIdle();
  assert.equal(await world.attachment(id), `${other} /dev/vdb`);
});

test('a detached volume leaves its server before the server is powered on again', async () => {
  const id = await attached();
  await world.simulator.setIgnoresShutdown(parseId('server', server) ?? '', true);
  await stopServer(world.service, actor, server);
  await detach(id);
  for (const seconds of [0, 60]) {
    world.clock.advanceS(seconds);
    await world.runDueTasks();
  }
  // Make its task due a little after the server is seen to be off.
  await world.db.run(`update tasks set due_at = due_at + interval '2 s' where kind = 'volume'`);
  world.clock.advanceS(1);
  await world.runDueTasks();
  const { compute } = world.service;
  const seen: (string | null)[] = [];
  const power = compute.power.bind(compute);
  mock.method(compute, 'power', async (machine: string, action: PowerAction) => {
    if (action === 'on') seen.push(await world.attachment(id));
    await power(machine, action);
  });
  await startServer(world.service, actor, server);
  await world.runUntilIdle();
  assert.deepEqual(seen, [null]);
});

test('a volume is detached after the deadline even if its host does not power the guest off', async () => {
  const id = await attached();
  await world.faults.set({ driver: 'compute', operation: 'power', times: 1_000 });
  await stopServer(world.service, actor, server);
  await detach(id);
  world.clock.advanceS(69);
  await world.runDueTasks();
  assert.equal(await world.attachment(id), `${server} /dev/vdb`);
  world.clock.advanceS(1);
  await world.runDueTasks();
  assert.equal(await world.attachment(id), null);
  await world.faults.set({ driver: 'compute', operation: 'power', times: 0 });
  await world.runUntilIdle();
});

test('a volume that is detached from a running server leaves it at once', async () => {
  const id = await attached();
  await detach(id);
  await world.runDueTasks();
  assert.equal(await world.attachment(id), null);
});

test('a server takes as many volumes as its hardware supports', async () => {
  const { compute } = world.service;
  const vps = { ...(compute.capabilities.vps ?? assert.fail()), volumes: 2 };
  const bounded = Object.create(compute, { capabilities: { value: { ...compute.capabilities, vps } } });
  const service = { ...world.service, compute: bounded };
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push(await world.volume(actor, region));
  const attach = (id = '') => attachVolume(service, actor, id, { server });
  await attach(ids[0]);
  await attach(ids[1]);
  assert.deepEqual(await refusal(attach(ids[2])), { code: 'unavailable', field: 'server' });
  await detach(ids[0] ?? '');
  assert.deepEqual(await refusal(attach(ids[2])), { code: 'conflict_state' });
  await world.runUntilIdle();
  assert.equal((await attach(ids[2])).device, '/dev/vdb');
  await world.runUntilIdle();
});
