/** A database that was restored from a backup does not know the disks that were created after it. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { reconcileMachines } from '../../../../src/domain/servers/machines/reconcile.ts';
import { rebuildServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

const ALICE = 'ssh-ed25519 AAAAalice';
const BOB = 'ssh-ed25519 AAAAbob';

let region: RegionWorld;
let world: TestService;
let id: string;
let shown: string;

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(async () => {
  await region.reset();
  const alice = await region.sshKey(ALICE);
  ({ id, shown } = await region.running({ sshKeys: [{ id: alice.id, publicKey: ALICE }] }));
  await rebuildServer(world.service, region.actor, shown, {});
  await world.runUntilIdle();
});

const setDisk = (n: number) => world.db.run('update servers set generation = $2 where id = $1', [id, n]);
const knownDisk = async () =>
  (await world.db.row<{ generation: number }>('select generation from servers where id = $1', [id]))
    ?.generation;

describe('a machine with a newer disk than the database knows', () => {
  it('a newer disk is adopted on the first inspection, so the next rebuild creates another one', async () => {
    await setDisk(1);
    await reconcileMachines(world.service);
    assert.equal(await knownDisk(), 2);
    const bob = await region.sshKey(BOB);
    await rebuildServer(world.service, region.actor, shown, { ssh_keys: [bob.shown] });
    await world.runUntilIdle();
    const machine = await region.machine(id);
    assert.deepEqual([machine?.disks, machine?.installed.sshKeys], [[3], [BOB]]);
    assert.equal(await knownDisk(), 3);
    await world.assertInvariants();
  });

  it('a newer disk is not adopted while an operation is under way', async () => {
    await rebuildServer(world.service, region.actor, shown, {});
    await setDisk(1);
    await reconcileMachines(world.service);
    assert.equal(await knownDisk(), 1);
    await setDisk(2);
    await world.runUntilIdle();
    assert.deepEqual((await region.machine(id))?.disks, [3]);
    await world.assertInvariants();
  });
});
