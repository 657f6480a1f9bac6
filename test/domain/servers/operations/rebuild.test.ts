import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, mock } from 'node:test';
import { deleteImage, removeImageBlob } from '../../../../src/domain/images/remove.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { rebuildServer } from '../../../../src/domain/servers/operations/reinstall.ts';
import { openQemuCompute } from '../../../../src/drivers/compute/qemu/driver.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId, newId } from '../../../../src/kernel/ids.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import type { RebuildBody } from '../../../../src/spec/schemas/server-actions.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

const ALICE = 'ssh-ed25519 AAAAalice';
const BOB = 'ssh-ed25519 AAAAbob';

let region: RegionWorld;
let world: TestService;
let id: string;
let shown: string;
let alice: { id: string; shown: string };

before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());
beforeEach(async () => {
  await region.reset();
  alice = await region.sshKey(ALICE);
  ({ id, shown } = await region.running({ sshKeys: [{ id: alice.id, publicKey: ALICE }] }));
});
afterEach(async () => {
  mock.restoreAll();
  await world.assertInvariants();
});

const rebuild = (body: RebuildBody = {}) => rebuildServer(world.service, region.actor, shown, body);
const status = async () => (await region.server(id)).status;
const newEvents = async () => (await region.events()).slice(3);

type ImageRow = Partial<{ deprecated: Date | null; cloudInit: boolean; active: boolean }>;

async function image(row: ImageRow = {}): Promise<{ id: string; shown: string }> {
  const imageId = newId(world.clock.now());
  await world.db.run(
    `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at, deprecated_at,
                         active)
     values ($1::uuid, 'official', 'other', $1::uuid::text, '{amd64}', 1, $2, '2025-01-01', $3, $4)`,
    [imageId, row.cloudInit ?? true, row.deprecated ?? null, row.active ?? true],
  );
  return { id: imageId, shown: formatId('image', imageId) };
}

async function customImage(customerId: string): Promise<{ id: string; shown: string }> {
  const imageId = newId(world.clock.now());
  await world.db.run(
    `insert into images (id, type, family, version, arch, size_gb, cloud_init, released_at, customer_id, name,
                         sha256, blob_key, size_bytes)
     values ($1, 'custom', 'custom', '1', '{amd64}', 1, false, '2025-01-01', $2, 'mine', 'abc', $1, 1)`,
    [imageId, customerId],
  );
  return { id: imageId, shown: formatId('customImage', imageId) };
}

/** Returns the blob key of the image's file; null once the file is removed. */
async function blobKey(imageId: string): Promise<string | null | undefined> {
  const row = await world.db.row<{ blob_key: string | null }>('select blob_key from images where id = $1', [
    imageId,
  ]);
  return row?.blob_key;
}

async function refused(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => assert.fail('the request succeeded'),
    (error: unknown) => {
      assert.ok(error instanceof Failure, String(error));
      return `${error.code} ${error.extras.field ?? ''}`.trim();
    },
  );
}

/** Makes the driver fail for the rest of the test. */
const failRebuild = (fault: 'refused' | 'host') =>
  mock.method(world.service.compute, 'rebuild', async () => {
    throw new ComputeError(fault, 'no room for another disk');
  });

describe('rebuild', () => {
  it('a rebuild installs the same image on a new disk, with the same keys and addresses', async () => {
    const before = await region.server(id);
    const response = await rebuild();
    assert.equal(response.status, 'installing');
    assert.deepEqual(response.ssh_keys, [alice.shown]);
    assert.equal(response.ipv4?.address, before.ipv4);
    await world.runUntilIdle();
    const machine = await region.machine(id);
    assert.deepEqual([machine?.disks, machine?.state], [[2], 'running']);
    assert.deepEqual(machine?.installed.sshKeys, [ALICE]);
    assert.deepEqual([await status(), await newEvents()], ['running', ['server.rebuilt']]);
    assert.deepEqual((await region.auditedActions()).slice(-2), ['server.rebuild ok', 'server.run ok']);
    await rebuild();
    await world.runUntilIdle();
    assert.deepEqual((await region.machine(id))?.disks, [3]);
    assert.equal((await region.server(id)).ipv4, before.ipv4);
  });

  it('a rebuild accepts another image, keys, and user data, which is deleted after the install', async () => {
    const other = await image();
    const bob = await region.sshKey(BOB);
    const user_data_b64 = Buffer.from('#cloud-config').toString('base64');
    const response = await rebuild({ image: other.shown, ssh_keys: [bob.shown, bob.shown], user_data_b64 });
    assert.deepEqual([response.image, response.ssh_keys], [other.shown, [bob.shown]]);
    await world.runUntilIdle();
    const { installed } = (await region.machine(id)) ?? assert.fail();
    assert.deepEqual([installed.image.id, installed.sshKeys], [other.id, [BOB]]);
    assert.notEqual(installed.userDataSha256, null);
    await rebuild();
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.installed.userDataSha256, null);
  });

  it('a rebuild from base images requires an imported image that fits the disk', async () => {
    const options = { dir: '/nowhere', hosts: ['one'], accelerator: 'tcg', netns: null } as const;
    const compute = openQemuCompute({ ...options, log: createLogger('silent') });
    const rebuildReal = (body: RebuildBody) =>
      rebuildServer({ ...world.service, compute }, region.actor, shown, body);
    const other = await image();
    for (const body of [{ image: other.shown }, {}])
      assert.equal(await refused(rebuildReal(body)), 'unavailable image');
    const { disk_gb: diskGb } = await region.server(id);
    const set = `update images set base_sha256 = repeat('a', 64), base_disk_gb = $2 where id = $1`;
    const imported = (baseGb: number) => world.db.run(set, [other.id, baseGb]);
    await imported(diskGb + 1);
    assert.equal(await refused(rebuildReal({ image: other.shown })), 'unavailable image');
    await imported(diskGb);
    assert.equal((await rebuildReal({ image: other.shown })).image, other.shown);
    await world.runUntilIdle();
  });

  it('a rebuild installs the keys of the order, even if the customer deleted them', async () => {
    await world.db.run('delete from ssh_keys where id = $1', [alice.id]);
    await rebuild();
    await world.runUntilIdle();
    assert.deepEqual((await region.machine(id))?.installed.sshKeys, [ALICE]);
  });

  it('a rebuild of a stopped server leaves it running', async () => {
    await world.db.run(`update servers set status = 'stopped' where id = $1`, [id]);
    await world.service.compute.power(id, 'off');
    await rebuild();
    await world.runUntilIdle();
    assert.deepEqual([await status(), (await region.machine(id))?.state], ['running', 'running']);
  });

  it('a rebuild continues after transient driver faults', async () => {
    await world.faults.set({ driver: 'compute', operation: 'rebuild', times: 3 });
    await rebuild();
    await world.runUntilIdle();
    assert.deepEqual([await status(), await newEvents()], ['running', ['server.rebuilt']]);
  });

  it('a rebuild refuses invalid input by its field', async () => {
    const foreign = await region.sshKey(BOB, (await world.fixtures.addCustomer()).customerId);
    const soon = new Date(world.clock.now().getTime() - 86_400_000);
    const expired = new Date(world.clock.now().getTime() - 91 * 86_400_000);
    const user_data_b64 = 'eA==';
    const plain = await image({ cloudInit: false });
    const cases: [RebuildBody, string][] = [
      [{ image: 'img_nonsense' }, 'unknown_reference image'],
      [{ image: formatId('image', newId(new Date())) }, 'unknown_reference image'],
      [{ image: (await image({ active: false })).shown }, 'unknown_reference image'],
      [{ image: (await image({ deprecated: expired })).shown }, 'unknown_reference image'],
      [{ image: (await image({ deprecated: soon })).shown }, 'unavailable image'],
      [{ ssh_keys: [alice.shown, foreign.shown] }, 'unknown_reference ssh_keys.1'],
      [{ ssh_keys: ['k_nonsense'] }, 'unknown_reference ssh_keys.0'],
      [{ user_data_b64: 'no base64!' }, 'invalid_request'],
      [{ image: plain.shown, user_data_b64 }, 'invalid_value user_data_b64'],
    ];
    for (const [body, reason] of cases) assert.equal(await refused(rebuild(body)), reason);
    await world.db.run(`update servers set ssh_keys = '{}', ssh_public_keys = '{}' where id = $1`, [id]);
    assert.equal(await refused(rebuild()), 'required ssh_keys');
    assert.equal(await status(), 'running');
    await rebuild({ ssh_keys: [alice.shown] });
    await world.runUntilIdle();
    assert.deepEqual((await region.machine(id))?.installed.sshKeys, [ALICE]);
  });

  it('a rebuild can reinstall a deprecated image until the image is removed', async () => {
    const old = await image();
    await rebuild({ image: old.shown });
    await world.runUntilIdle();
    const since = (days: number) => new Date(world.clock.now().getTime() - days * 86_400_000);
    await world.db.run('update images set deprecated_at = $2 where id = $1', [old.id, since(80)]);
    await rebuild();
    await world.runUntilIdle();
    await world.db.run('update images set deprecated_at = $2 where id = $1', [old.id, since(91)]);
    assert.equal(await refused(rebuild()), 'unavailable image');
  });

  it('a rebuild installs a custom image, whose file is removed once deleted and unused', async () => {
    const foreign = await customImage((await world.fixtures.addCustomer()).customerId);
    assert.equal(await refused(rebuild({ image: foreign.shown })), 'unknown_reference image');
    const mine = await customImage(region.customerId);
    assert.equal((await rebuild({ image: mine.shown })).image, mine.shown);
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.installed.image.iso?.sha256, 'abc');
    await world.db.run('update images set deleted_at = now() where id = $1', [mine.id]);
    await rebuild();
    await world.runUntilIdle();
    assert.deepEqual(await newEvents(), ['server.rebuilt', 'server.rebuilt']);
    assert.equal(await blobKey(mine.id), mine.id);
    await rebuild({ image: (await image()).shown });
    await world.runUntilIdle();
    assert.equal(await blobKey(mine.id), null);
  });

  it('a rebuild that rolls back to a deleted image still has its file', async () => {
    const mine = await customImage(region.customerId);
    await rebuild({ image: mine.shown });
    await world.runUntilIdle();
    const refusal = failRebuild('refused');
    await rebuild({ image: (await image()).shown });
    await deleteImage(world.service, region.actor, mine.shown);
    assert.deepEqual(await removeImageBlob(world.service, mine.id), { againMs: 60_000 });
    await world.runUntilIdle();
    assert.equal((await region.server(id)).image_id, mine.id);
    assert.equal(await blobKey(mine.id), mine.id);
    refusal.mock.restore();
    await rebuild();
    await world.runUntilIdle();
    assert.equal((await region.machine(id))?.installed.image.iso?.sha256, 'abc');
  });

  it('a rebuild whose server is destroyed releases the file of the previous image', async () => {
    const mine = await customImage(region.customerId);
    await rebuild({ image: mine.shown });
    await world.runUntilIdle();
    await rebuild({ image: (await image()).shown });
    await deleteImage(world.service, region.actor, mine.shown);
    await region.runDueWork();
    assert.equal(await blobKey(mine.id), mine.id);
    await destroyServer(world.service, region.actor, shown);
    await world.runUntilIdle();
    assert.ok(await region.isGone(id));
    assert.equal(await blobKey(mine.id), null);
  });

  for (const from of ['running', 'stopped'] as const) {
    it(`a rebuild that the driver refuses leaves a ${from} server and its disk unchanged`, async () => {
      await world.db.run('update servers set status = $2 where id = $1', [id, from]);
      if (from === 'stopped') await world.service.compute.power(id, 'off');
      const before = await region.server(id);
      failRebuild('refused');
      await rebuild({
        image: (await image()).shown,
        ssh_keys: [(await region.sshKey(BOB)).shown],
        user_data_b64: 'eA==',
      });
      // Simulate a driver that already changed the power state: the rollback must restore it.
      await world.service.compute.power(id, from === 'stopped' ? 'on' : 'off');
      await world.runUntilIdle();
      const { updated_at: _, ...now } = await region.server(id);
      const { updated_at: __, ...then } = before;
      assert.deepEqual(now, then);
      const machine = await region.machine(id);
      assert.deepEqual([machine?.disks, machine?.state], [[1], from]);
      assert.deepEqual(await newEvents(), []);
      assert.ok((await region.auditedActions()).includes('server.rebuild error'));
      mock.restoreAll();
      await rebuild();
      await world.runUntilIdle();
      assert.deepEqual((await region.machine(id))?.installed.sshKeys, [ALICE]);
    });
  }

  it('a rebuild that its host cannot do is given up after some attempts', async () => {
    const calls = failRebuild('host');
    await rebuild();
    await world.runUntilIdle();
    assert.equal(calls.mock.callCount(), 5);
    assert.deepEqual([await status(), (await region.machine(id))?.disks], ['running', [1]]);
  });

  it('a rebuild that the driver started continues, even if the driver reported a refusal', async () => {
    const { compute } = world.service;
    const call = compute.rebuild.bind(compute);
    mock.method(compute, 'rebuild', async (spec: Parameters<typeof call>[0]) => {
      await call(spec);
      throw new ComputeError('refused', 'confused');
    });
    await rebuild();
    await world.runUntilIdle();
    assert.deepEqual([await status(), (await region.machine(id))?.disks], ['running', [2]]);
    assert.deepEqual(await newEvents(), ['server.rebuilt']);
  });
});
