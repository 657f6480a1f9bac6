/** Restores from snapshots that another backend has: the snapshot is moved to the server first. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';
import type { Service } from '../../../../src/domain/context.ts';
import { drainHost } from '../../../../src/domain/inventory/hosts.ts';
import { moveEverythingOff } from '../../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { restoreServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { createSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { findMove } from '../../../../src/store/servers/moves.ts';
import { operateJob } from '../../../../src/workers/operate.ts';
import { tasksJob } from '../../../../src/workers/tasks.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

let region: RegionWorld;
let world: TestService;
/** Its driver has hosts of its own, so each backend has its own snapshots. */
let service: Service;
let snapshot: string;
let snapshotId: string;
/** A server on another backend than the snapshot. */
let server: { readonly id: string; readonly shown: string };
let from: string;
let to: string;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
  const compute = new Proxy(world.service.compute, {
    get: (target, key) => {
      if (key === 'hosts') return ['service'];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  service = { ...world.service, compute };
});
after(() => world.close());

beforeEach(async () => {
  await region.reset([1, 1]);
  const source = await region.running();
  server = await region.running();
  ({ id: snapshot } = await createSnapshot(world.service, region.actor, source.shown, {}));
  await world.runUntilIdle();
  snapshotId = parseId('snapshot', snapshot) ?? assert.fail(snapshot);
  from = (await region.machine(source.id))?.host ?? assert.fail();
  to = (await region.machine(server.id))?.host ?? assert.fail();
  for (const name of region.hosts) {
    await world.db.run(
      `insert into backends (name, kind, address, fingerprint, region_id, state, created_at)
       values ($1, 'host', 'host.example:7443', repeat('ab', 32), $2, 'active', $3)`,
      [name, region.regionId, world.clock.now()],
    );
    await world.db.run('update hosts set backend = $1 where name = $1', [name]);
  }
  const place = [snapshotId, from];
  await world.db.run(`insert into placed_resources (kind, id, backend) values ('snapshot', $1, $2)`, place);
});

async function workUntil(reached: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 1_000; round++) {
    for (const job of [tasksJob(service), operateJob(service)]) await job.run();
    if (await reached()) return;
    world.clock.advanceS(1);
  }
  assert.fail('the condition does not hold');
}

const isRunning = async () => (await region.server(server.id)).status === 'running';

it('a server is restored from a snapshot that another host has, once it has arrived', async () => {
  await restoreServer(service, region.actor, server.shown, snapshot);
  await workUntil(async () => (await findMove(world.db, snapshotId))?.state === 'copying');
  assert.equal((await region.machine(server.id))?.generation, 1);
  await workUntil(isRunning);
  const machine = await region.machine(server.id);
  assert.deepEqual([machine?.generation, machine?.host], [2, to]);
  const [place] = await world.db.rows('select backend from placed_resources where id = $1', [snapshotId]);
  assert.deepEqual(place, { backend: to });
  const seen = (await world.simulator.snapshots()).find(({ id }) => id === snapshotId);
  assert.equal(seen?.host, to);
  await workUntil(async () => (await findMove(world.db, snapshotId)) === undefined);
  await world.assertInvariants();
});

it('a server is created from a snapshot that another host has, once it has arrived', async () => {
  await destroyServer(service, region.actor, server.shown);
  const left = async () => await world.db.rows('select from servers where id = $1', [server.id]);
  await workUntil(async () => (await left()).length === 0);
  const id = await region.order({ snapshotId });
  await workUntil(async () => (await findMove(world.db, snapshotId))?.state === 'copying');
  assert.equal(await region.machine(id), undefined);
  await workUntil(async () => (await region.server(id)).status === 'running');
  const machine = await region.machine(id);
  assert.deepEqual([machine?.generation, machine?.host], [1, to]);
  const seen = (await world.simulator.snapshots()).find((each) => each.id === snapshotId);
  assert.equal(seen?.host, to);
  await workUntil(async () => (await findMove(world.db, snapshotId)) === undefined);
  await world.assertInvariants();
});

it('a restore does not wait for a snapshot that waits for its own server', async () => {
  await moveEverythingOff(service, from, 1);
  await drainHost(service, to, true);
  await workUntil(async () => (await findMove(world.db, snapshotId))?.last_fault !== null);
  assert.equal((await findMove(world.db, snapshotId))?.state, 'queued');
  await restoreServer(service, region.actor, server.shown, snapshot);
  await workUntil(isRunning);
  const machine = await region.machine(server.id);
  assert.deepEqual([machine?.generation, machine?.host], [2, to]);
  for (const name of [from, to]) await drainHost(service, name, false);
  await workUntil(async () => (await findMove(world.db, snapshotId)) === undefined);
  await world.assertInvariants();
});

it('a restore fails, and leaves the disk, if the snapshot fails to arrive three times', async () => {
  await world.faults.set({ driver: 'compute', operation: 'moves.receiveDisk', times: 1_000 });
  await restoreServer(service, region.actor, server.shown, snapshot);
  await workUntil(isRunning);
  await world.faults.set({ driver: 'compute', operation: 'moves.receiveDisk', times: 0 });
  assert.equal((await region.machine(server.id))?.generation, 1);
  assert.equal((await findMove(world.db, snapshotId))?.attempts, 3);
  const seen = (await world.simulator.snapshots()).find(({ id }) => id === snapshotId);
  assert.equal(seen?.host, from);
  await workUntil(async () => (await findMove(world.db, snapshotId)) === undefined);
  await world.assertInvariants();
});
