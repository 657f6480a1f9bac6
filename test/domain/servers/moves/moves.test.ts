import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { drainHost } from '../../../../src/domain/inventory/hosts.ts';
import { moveEverythingOff, moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { freezeServer } from '../../../../src/domain/servers/operator/controls.ts';
import { createSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { attachVolume, detachVolume } from '../../../../src/domain/volumes/attach.ts';
import { createVolume, updateVolume } from '../../../../src/domain/volumes/change.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { parseId } from '../../../../src/kernel/ids.ts';
import { OperatorError } from '../../../../src/kernel/operator-error.ts';
import { findMove, listMoves, type MoveRow } from '../../../../src/store/servers/moves.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

let region: RegionWorld;
let world: TestService;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(() => region.reset());
afterEach(() => world.assertInvariants());

const hostOf = async (id: string) => (await region.machine(id))?.host ?? assert.fail('no machine');
const moveOf = (id: string): Promise<MoveRow | undefined> => findMove(world.db, id);

/** Runs due work, and lets time pass, until the condition holds. */
async function workUntil(reached: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < 500; round++) {
    await region.runDueWork();
    if (await reached()) return;
    const next = await world.runner.nextDue();
    if (next !== null && next > world.clock.now()) world.clock.moveTo(next);
    else world.clock.advanceS(0.5);
  }
  assert.fail('the condition does not hold');
}

/** Queues the move of a server, and waits until its copy is under way. */
async function startMove(shown: string, to: string | null = null): Promise<string> {
  await moveServer(world.service, shown, to);
  const id = parseId('server', shown) ?? assert.fail(shown);
  await workUntil(async () => ((await moveOf(id))?.total_bytes ?? 0n) > 0n);
  return id;
}

async function moveAway(name: string, atOnce = 2): Promise<void> {
  await moveEverythingOff(world.service, name, atOnce);
  await workUntil(async () => (await listMoves(world.db, { host: name, limit: 10 })).length === 0);
}

async function failing(call: string, times: number): Promise<void> {
  await world.faults.set({ driver: 'compute', operation: `moves.${call}`, times });
}

async function conflicts(work: Promise<unknown>): Promise<void> {
  await assert.rejects(work, (error) => error instanceof Failure && error.code === 'conflict_state');
}

async function attachedVolume(server: string): Promise<string> {
  const { id } = await createVolume(world.service, region.actor, {
    name: 'data',
    size_gb: 10,
    region: region.regionId,
  });
  await attachVolume(world.service, region.actor, id, { server });
  await world.runUntilIdle();
  return id;
}

describe('a drained host', () => {
  it('loses its servers to other hosts, and their customers see no difference', async () => {
    const { id, shown } = await region.running();
    const from = await hostOf(id);
    const seen = async () => {
      const { host_id: _, ...server } = await region.server(id);
      return [server, await region.events(), await region.freeAddresses()];
    };
    const before = await seen();
    await moveAway(from);
    const to = await hostOf(id);
    assert.notEqual(to, from);
    assert.deepEqual(await seen(), before);
    assert.equal((await region.machine(id))?.state, 'running');
    assert.deepEqual(await region.usedHosts(), { [to]: 1 });
    assert.ok((await region.auditedActions()).includes('server.move ok'));
    await destroyServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    assert.deepEqual(await region.usedHosts(), {});
  });

  it('sends no more servers at a time than the operator allows', async () => {
    await region.reset([6, 3, 3]);
    const [from = ''] = region.hosts;
    for (const other of region.hosts.slice(1)) await drainHost(world.service, other, true);
    const ids = [];
    for (let n = 0; n < 4; n++) ids.push((await region.running()).id);
    for (const other of region.hosts.slice(1)) await drainHost(world.service, other, false);
    await moveEverythingOff(world.service, from, 2);
    let most = 0;
    await workUntil(async () => {
      const moves = await listMoves(world.db, { host: from, limit: 10 });
      most = Math.max(most, moves.filter(({ state }) => state === 'copying' || state === 'switched').length);
      return moves.length === 0;
    });
    assert.equal(most, 2);
    for (const id of ids) assert.notEqual(await hostOf(id), from);
  });

  it('keeps its queued servers when it accepts servers again', async () => {
    await region.reset([1]);
    const { id } = await region.running();
    const [from = ''] = region.hosts;
    await moveEverythingOff(world.service, from, 2);
    await region.runDueWork();
    assert.equal((await moveOf(id))?.last_fault, 'no other host has room for it');
    await drainHost(world.service, from, false);
    await world.runUntilIdle();
    assert.equal(await moveOf(id), undefined);
    assert.equal(await hostOf(id), from);
  });
});

describe('a server that moves', () => {
  it('takes its volumes with it', async () => {
    await region.reset([3, 3]);
    const { id, shown } = await region.running();
    const volume = await attachedVolume(shown);
    const from = await hostOf(id);
    await moveAway(from);
    const row = await world.db.row(
      'select h.name from volumes v join hosts h on h.id = v.host_id where v.id = $1',
      [parseId('volume', volume)],
    );
    assert.deepEqual(row, { name: await hostOf(id) });
    assert.notEqual(await hostOf(id), from);
    await updateVolume(world.service, region.actor, volume, { size_gb: 11 });
    await world.runUntilIdle();
    const attached = (await world.simulator.volumes()).find((each) => each.machineId === id);
    assert.equal(attached?.sizeGb, 11);
  });

  it('is entered with its volumes at the backend of its new host', async () => {
    await region.reset([3, 3]);
    const { id, shown } = await region.running();
    const volume = parseId('volume', await attachedVolume(shown));
    const from = await hostOf(id);
    for (const name of region.hosts) {
      await world.db.run(
        `insert into backends (name, kind, address, fingerprint, region_id, state, created_at)
         values ($1, 'host', 'host.example:7443', repeat('ab', 32), $2, 'active', $3)`,
        [name, region.regionId, world.clock.now()],
      );
      await world.db.run('update hosts set backend = $1 where name = $1', [name]);
    }
    for (const kind of ['machine', 'volume']) {
      const place = [kind, kind === 'machine' ? id : volume, from];
      await world.db.run('insert into placed_resources (kind, id, backend) values ($1, $2, $3)', place);
    }
    await moveAway(from);
    const to = await hostOf(id);
    const places = await world.db.rows(
      'select kind, backend from placed_resources where id = any ($1::text[]) order by kind',
      [[id, volume]],
    );
    assert.deepEqual(places, [
      { kind: 'machine', backend: to },
      { kind: 'volume', backend: to },
    ]);
  });

  it('stays stopped if it was stopped', async () => {
    const { id, shown } = await region.running();
    await stopServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    await moveAway(await hostOf(id));
    assert.equal((await region.server(id)).status, 'stopped');
    assert.equal((await region.machine(id))?.state, 'stopped');
  });

  it('goes to the host that the operator names, or nowhere', async () => {
    const { id, shown } = await region.running();
    const [to = ''] = region.hosts.filter((name) => name !== region.hosts[0]);
    const target = (await hostOf(id)) === to ? (region.hosts[0] ?? '') : to;
    await moveServer(world.service, shown, target);
    await workUntil(async () => (await moveOf(id)) === undefined);
    assert.equal(await hostOf(id), target);
    const refused = (call: Promise<unknown>, message: RegExp) =>
      assert.rejects(call, (error) => error instanceof OperatorError && message.test(error.message));
    await refused(moveServer(world.service, shown, target), /already/);
    await refused(moveServer(world.service, shown, 'nowhere'), /not found/);
    await drainHost(world.service, region.hosts[1] ?? '', true);
    await drainHost(world.service, region.hosts[0] ?? '', true);
    await drainHost(world.service, region.hosts[2] ?? '', true);
    await refused(moveServer(world.service, shown, region.hosts[2] ?? ''), /drained|already/);
  });

  it('refuses other operations until it has moved, and loses none', async () => {
    await region.reset([3, 3]);
    const { shown } = await region.running();
    const volume = await attachedVolume(shown);
    const id = await startMove(shown);
    const { service } = world;
    await conflicts(stopServer(service, region.actor, shown));
    await conflicts(createSnapshot(service, region.actor, shown, {}));
    await conflicts(updateVolume(service, region.actor, volume, { size_gb: 20 }));
    await detachVolume(service, region.actor, volume);
    await conflicts(attachVolume(service, region.actor, volume, { server: shown }));
    await workUntil(async () => (await moveOf(id)) === undefined);
    await world.runUntilIdle();
    assert.ok((await region.events()).includes('volume.detached'));
    await attachVolume(service, region.actor, volume, { server: shown });
    await stopServer(service, region.actor, shown);
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.state, 'stopped');
  });

  it('is deleted on both hosts if its customer deletes it meanwhile', async () => {
    const { shown } = await region.running();
    const id = await startMove(shown);
    await destroyServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await region.machine(id), undefined);
    assert.equal(await moveOf(id), undefined);
    assert.deepEqual(await region.usedHosts(), {});
    const [move] = (await world.simulator.moves()).filter(({ machineId }) => machineId === id);
    assert.deepEqual([move?.source, move?.target], ['runs', 'gone']);
  });

  it('stays where it is when the operator freezes it', async () => {
    const { shown } = await region.running();
    const id = await startMove(shown);
    const from = await hostOf(id);
    await freezeServer(world.service, shown, 'abuse');
    await workUntil(async () => (await region.machine(id))?.state === 'stopped');
    assert.equal((await region.server(id)).status, 'suspended');
    assert.equal(await hostOf(id), from);
    await workUntil(async () => (await moveOf(id)) === undefined);
    assert.notEqual(await hostOf(id), from);
    assert.equal((await region.machine(id))?.state, 'stopped');
  });
});

describe('a move that fails', () => {
  it('leaves the server running where it was, and tries another host', async () => {
    const { id, shown } = await region.running();
    const from = await hostOf(id);
    await failing('send', 1);
    await moveServer(world.service, shown, null);
    await workUntil(async () => (await moveOf(id))?.attempts === 1);
    assert.equal(await hostOf(id), from);
    assert.equal((await region.machine(id))?.state, 'running');
    const failed = await moveOf(id);
    assert.equal(failed?.last_fault, 'simulated fault');
    assert.ok((await region.auditedActions()).includes('server.move error'));
    await workUntil(async () => (await moveOf(id)) === undefined);
    assert.notEqual(await hostOf(id), from);
    const moves = (await world.simulator.moves()).filter(({ machineId }) => machineId === id);
    assert.equal(new Set(moves.map(({ to }) => to)).size, 2);
  });

  it('is given up after five attempts, unless its host is drained', async () => {
    const { id, shown } = await region.running();
    const from = await hostOf(id);
    await failing('receive', 5);
    await moveServer(world.service, shown, null);
    await workUntil(async () => (await moveOf(id)) === undefined);
    assert.equal(await hostOf(id), from);
    await failing('receive', 6);
    await moveAway(from);
    assert.notEqual(await hostOf(id), from);
  });

  it('needs its target only until the server has moved: its source may be silent then', async () => {
    const { shown } = await region.running();
    const id = await startMove(shown);
    const from = await hostOf(id);
    await failing('forget', 1_000);
    await workUntil(async () => (await moveOf(id))?.state === 'moved');
    await world.simulator.setHostDown(from, true);
    await failing('forget', 0);
    await stopServer(world.service, region.actor, shown);
    await workUntil(async () => (await region.server(id)).status === 'stopped');
    assert.equal((await moveOf(id))?.state, 'moved');
    await world.simulator.setHostDown(from, false);
    await workUntil(async () => (await moveOf(id)) === undefined);
    assert.deepEqual(await region.usedHosts(), { [await hostOf(id)]: 1 });
  });
});
