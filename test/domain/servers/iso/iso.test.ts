import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { deleteImage } from '../../../../src/domain/images/remove.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { rebootServer, stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { rebuildServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { patchServer } from '../../../../src/domain/servers/update.ts';
import { formatId, newId, parseId } from '../../../../src/kernel/ids.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import type { ComputeFault } from '../../../../src/ports/compute-fault.ts';
import { findServer } from '../../../../src/store/servers/servers.ts';
import { R1 } from '../../../support/fixtures.ts';
import { refused } from '../resize/resize-world.ts';
import { IsoWorld } from './iso-world.ts';

let isos: IsoWorld;
before(async () => {
  isos = await IsoWorld.open();
});
after(() => isos.world.close());
beforeEach(() => isos.reset());
afterEach(async () => {
  mock.restoreAll();
  await isos.world.assertInvariants();
});

async function stop(): Promise<void> {
  await stopServer(isos.world.service, isos.region.actor, isos.shown);
  await isos.done();
}

/** Makes the driver fail to insert an image so many times. */
function failing(fault: ComputeFault, times = Number.POSITIVE_INFINITY): void {
  const { compute } = isos.world.service;
  const real = compute.setIso.bind(compute);
  let calls = 0;
  mock.method(compute, 'setIso', async (...args: Parameters<typeof real>) => {
    if (args[1].iso !== null && calls++ < times) throw new ComputeError(fault, 'no such file');
    return await real(...args);
  });
}

const EMPTY = [null, 'disk'];

describe('an ISO image in a server', () => {
  it('an image is inserted into a running server, booted, and ejected', async () => {
    const image = await isos.image();
    const { iso, boot, status, action } = await isos.insert(image);
    assert.deepEqual([iso, boot, status], [image.shown, 'disk', 'running']);
    assert.deepEqual([action?.command, action?.status], ['server.insert_iso', 'running']);
    await isos.done();
    assert.deepEqual(await isos.drive(), [image.sha256, 'disk']);
    const updated = await isos.boot('iso');
    assert.deepEqual([updated.boot, updated.action?.command], ['iso', 'server.set_boot']);
    await isos.done();
    assert.deepEqual(await isos.drive(), [image.sha256, 'iso']);
    const ejected = await isos.eject();
    assert.deepEqual(
      [ejected.iso, ejected.boot, ejected.action?.command],
      [null, 'disk', 'server.eject_iso'],
    );
    await isos.done();
    assert.deepEqual(await isos.drive(), EMPTY);
    assert.equal((await isos.server()).status, 'running');
    assert.deepEqual(await isos.events(), ['server.iso_inserted', 'server.iso_ejected']);
    assert.deepEqual((await isos.region.auditedActions()).slice(-3), [
      'server.insert_iso ok',
      'server.update ok',
      'server.eject_iso ok',
    ]);
  });

  it('a stopped server takes an image and stays stopped, and another one replaces it', async () => {
    await stop();
    await isos.inserted();
    await isos.boot('iso');
    await isos.done();
    const next = await isos.inserted();
    assert.deepEqual(await isos.drive(), [next.sha256, 'iso']);
    assert.deepEqual(await isos.stored(), [next.id, 'iso']);
    assert.equal((await isos.region.machine(isos.id))?.state, 'stopped');
  });

  it('images that the customer does not have, and official ones, are refused', async () => {
    const other = await isos.world.fixtures.addCustomer();
    const foreign = await isos.image(other.customerId);
    const gone = await isos.image();
    await deleteImage(isos.world.service, isos.region.actor, gone.shown);
    const unknown = { shown: formatId('customImage', newId(isos.world.clock.now())) };
    for (const image of [foreign, gone, unknown, { shown: 'nonsense' }])
      assert.deepEqual(await refused(isos.insert(image)), ['unknown_reference', 'image']);
    const official = { shown: formatId('image', (await isos.server()).image_id) };
    assert.deepEqual(await refused(isos.insert(official)), ['mismatch', 'image']);
    assert.deepEqual(await isos.stored(), EMPTY);
  });

  it('a server without an image has nothing to boot or eject', async () => {
    assert.deepEqual(await refused(isos.boot('iso')), ['wrong_state', 'boot']);
    assert.deepEqual(await refused(isos.eject()), ['wrong_state', 'iso']);
    assert.equal((await isos.boot('disk')).action, null);
  });

  it('a server that was never started does not boot an image instead of its disk', async () => {
    await stop();
    await isos.inserted();
    await isos.world.db.run('update servers set never_started = true where id = $1', [isos.id]);
    assert.deepEqual(await refused(isos.boot('iso')), ['wrong_state', 'boot']);
  });

  it('a change waits for the operation under way, and an update without it does not', async () => {
    await isos.inserted();
    await rebootServer(isos.world.service, isos.region.actor, isos.shown, { hard: false });
    const image = await isos.image();
    for (const change of [() => isos.insert(image), () => isos.eject(), () => isos.boot('iso')])
      assert.deepEqual(await refused(change()), ['conflict_state', undefined]);
    const { service } = isos.world;
    const renamed = await patchServer(service, isos.region.actor, isos.shown, { name: 'b', boot: 'disk' });
    assert.equal(renamed.name, 'b');
  });

  it('dedicated hardware has no drive for images', async () => {
    const { regionId } = isos.region;
    const plan = { ...R1, id: 'r0', price_cents_month: 1000n };
    await isos.world.fixtures.addPlans([regionId], [plan]);
    await isos.world.fixtures.addMachines(1, plan, regionId);
    const { shown } = await isos.region.running({ plan });
    isos.shown = shown;
    assert.deepEqual(await refused(isos.insert(await isos.image())), ['unavailable', 'image']);
  });

  it('an inserted image cannot be deleted until it is ejected', async () => {
    const image = await isos.inserted();
    const remove = () => deleteImage(isos.world.service, isos.region.actor, image.shown);
    assert.deepEqual(await refused(remove()), ['still_in_use', '']);
    await isos.eject();
    await isos.done();
    await remove();
  });

  it('a server that is deleted with an image leaves the image', async () => {
    const [image, other] = [await isos.inserted(), await isos.image()];
    const { service } = isos.world;
    await destroyServer(service, isos.region.actor, isos.shown);
    await deleteImage(service, isos.region.actor, image.shown);
    await deleteImage(service, isos.region.actor, other.shown);
    await isos.done();
    assert.equal(await findServer(isos.world.db, isos.id), undefined);
  });

  it('a rebuild keeps the image and boots the disk', async () => {
    const image = await isos.inserted();
    await isos.boot('iso');
    await isos.done();
    const { shown } = await isos.region.sshKey('ssh-ed25519 AAAA me');
    await rebuildServer(isos.world.service, isos.region.actor, isos.shown, { ssh_keys: [shown] });
    await isos.done();
    assert.deepEqual(await isos.drive(), [image.sha256, 'disk']);
    assert.deepEqual(await isos.stored(), [image.id, 'disk']);
  });
});

describe('a host that cannot insert an image', () => {
  it('an image that the host is receiving is waited for', async () => {
    failing('waiting', 3);
    const image = await isos.inserted();
    assert.deepEqual(await isos.drive(), [image.sha256, 'disk']);
  });

  it('an image that never reaches the host is given up, and the server is free again', async () => {
    failing('waiting');
    const { action } = await isos.insert(await isos.image());
    await isos.done();
    isos.world.clock.advanceS(3_600);
    await isos.done();
    assert.deepEqual(await isos.stored(), EMPTY);
    const ended = await isos.world.db.row<{ error_code: string }>(
      'select error_code from actions where id = $1',
      [parseId('action', action?.id ?? '')],
    );
    assert.deepEqual(ended, { error_code: 'timeout' });
    await stop();
  });

  it('a host that does not answer is asked again', async () => {
    failing('transient', 3);
    const image = await isos.inserted();
    assert.deepEqual(await isos.drive(), [image.sha256, 'disk']);
  });

  for (const fault of ['refused', 'host'] as const) {
    it(`after the fault ${fault} the drive is empty, and the server says so`, async () => {
      await isos.inserted();
      await isos.boot('iso');
      await isos.done();
      failing(fault);
      const { action } = await isos.insert(await isos.image());
      await isos.done();
      assert.deepEqual(await isos.stored(), EMPTY);
      assert.deepEqual(await isos.drive(), EMPTY);
      assert.deepEqual(await isos.events(), ['server.iso_inserted', 'server.iso_ejected']);
      const ended = await isos.world.db.row<{ status: string; error_code: string }>(
        'select status, error_code from actions where id = $1',
        [parseId('action', action?.id ?? '')],
      );
      assert.deepEqual(ended, { status: 'error', error_code: 'host_failed' });
      assert.ok((await isos.region.auditedActions()).includes('server.insert_iso error'));
      mock.restoreAll();
      await isos.inserted();
    });
  }
});
