/** A server with an ISO image and its host: moves wait, and a lost host takes the image with it. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, it } from 'node:test';
import { loseHost } from '../../../../src/domain/inventory/lost-hosts.ts';
import { resizeServer } from '../../../../src/domain/servers/resize/resize.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { findMove, queueMove } from '../../../../src/store/servers/moves.ts';
import { enqueueTask } from '../../../../src/store/tasks.ts';
import { refused, S2 } from '../resize/resize-world.ts';
import { IsoWorld } from './iso-world.ts';

let isos: IsoWorld;
before(async () => {
  isos = await IsoWorld.open();
});
after(() => isos.world.close());
beforeEach(async () => {
  await isos.reset([1, 1]);
  await isos.world.fixtures.addPlans([isos.region.regionId], [S2]);
});
afterEach(() => isos.world.assertInvariants());

const hostOf = async () => (await isos.region.machine(isos.id))?.host ?? assert.fail('no machine');

it('a server whose host is lost starts elsewhere with an empty drive', async () => {
  await isos.inserted();
  await isos.boot('iso');
  await isos.done();
  const name = await hostOf();
  await isos.world.simulator.loseHost(name);
  await loseHost(isos.world.service, name, 'rebuild');
  await isos.world.runUntilIdle();
  assert.notEqual(await hostOf(), name);
  assert.deepEqual(await isos.stored(), [null, 'disk']);
  assert.deepEqual(await isos.drive(), [null, 'disk']);
  assert.ok((await isos.events()).includes('server.iso_ejected'));
});

it('an insertion under way ends with its host', async () => {
  await isos.insert(await isos.image());
  const name = await hostOf();
  await isos.world.simulator.loseHost(name);
  await loseHost(isos.world.service, name, 'rebuild');
  await isos.world.runUntilIdle();
  assert.deepEqual(await isos.stored(), [null, 'disk']);
  assert.equal((await isos.server()).status, 'running');
});

it('a move waits until the image is ejected', async () => {
  await isos.inserted();
  const from = await hostOf();
  const { db, clock } = isos.world;
  const now = clock.now();
  await queueMove(db, { id: newId(now), serverId: isos.id, wantedHost: null, now });
  await enqueueTask(db, { kind: 'move', subject: isos.id, now });
  await isos.region.runDueWork();
  const move = (await findMove(db, isos.id)) ?? assert.fail('the move is gone');
  assert.deepEqual([move.state, await hostOf()], ['queued', from]);
  await isos.eject();
  await isos.done();
  for (let round = 0; round < 20 && (await hostOf()) === from; round++) {
    clock.advanceS(30);
    await isos.done();
  }
  assert.notEqual(await hostOf(), from);
});

it('a resize for which the server would have to move asks to eject the image', async () => {
  await isos.inserted();
  const resize = resizeServer(isos.world.service, isos.region.actor, isos.shown, {
    plan: 's2',
    restart: true,
  });
  assert.deepEqual(await refused(resize), ['wrong_state', 'iso']);
});
