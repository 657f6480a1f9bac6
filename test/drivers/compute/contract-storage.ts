/** The compute contract for volumes and snapshots. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ComputeError } from '../../../src/ports/compute.ts';
import { type ContractFixture, failsAs, type TestScope } from './compute-world.ts';

export function storageContract(fixture: ContractFixture): void {
  /** Creates a snapshot of the machine and waits until it is ready. */
  async function createSnapshot(t: TestScope, machineId: string): Promise<string> {
    const id = fixture.newSnapshotId(t);
    await fixture.world.eventually(
      async () => (await fixture.driver.snapshot(machineId, id)).state === 'ready',
    );
    return id;
  }

  it('a volume is created when first attached, and attaching it again changes nothing', async (t) => {
    const { id } = await fixture.startMachine(t);
    const volume = { id: fixture.newVolumeId(t), sizeGb: 1, device: '/dev/vdb' };
    for (const _ of ['once', 'again']) {
      await fixture.driver.attach(id, volume);
      assert.deepEqual(await fixture.world.attached(id), [volume]);
    }
    for (const _ of ['once', 'again']) {
      await fixture.driver.detach(volume.id);
      assert.deepEqual(await fixture.world.attached(id), []);
    }
  });

  it('a volume is attached to one machine at a time', async (t) => {
    const [one, two] = [await fixture.startMachine(t), await fixture.startMachine(t)];
    const volume = { id: fixture.newVolumeId(t), sizeGb: 1, device: '/dev/vdb' };
    await fixture.driver.attach(one.id, volume);
    await fixture.driver.attach(two.id, volume);
    assert.deepEqual(await fixture.world.attached(one.id), []);
    assert.deepEqual(await fixture.world.attached(two.id), [volume]);
  });

  it('a device holds at most one volume', async (t) => {
    const { id } = await fixture.startMachine(t);
    const [volume, other] = [fixture.newVolumeId(t), fixture.newVolumeId(t)];
    await fixture.driver.attach(id, { id: volume, sizeGb: 1, device: '/dev/vdb' });
    const wanted = { id: other, sizeGb: 1, device: '/dev/vdb' };
    await failsAs('transient', fixture.driver.attach(id, wanted));
    await fixture.driver.detach(volume);
    await fixture.driver.attach(id, wanted);
    assert.deepEqual(await fixture.world.attached(id), [wanted]);
  });

  it('a volume grows while it is attached and never shrinks', async (t) => {
    const { id } = await fixture.startMachine(t);
    const volume = { id: fixture.newVolumeId(t), sizeGb: 1, device: '/dev/vdb' };
    await fixture.driver.attach(id, volume);
    for (const sizeGb of [2, 2, 1]) await fixture.driver.grow(volume.id, sizeGb);
    assert.deepEqual(await fixture.world.attached(id), [{ ...volume, sizeGb: 2 }]);
    await fixture.driver.detach(volume.id);
    await fixture.driver.attach(id, volume);
    assert.deepEqual(await fixture.world.attached(id), [{ ...volume, sizeGb: 2 }]);
  });

  it('volumes stay attached during a rebuild and survive their machine', async (t) => {
    const spec = await fixture.startMachine(t);
    const volume = { id: fixture.newVolumeId(t), sizeGb: 1, device: '/dev/vdb' };
    await fixture.driver.attach(spec.id, volume);
    await fixture.driver.grow(volume.id, 2);
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    await fixture.waitForState(spec.id, 'running');
    assert.deepEqual(await fixture.world.attached(spec.id), [{ ...volume, sizeGb: 2 }]);
    await fixture.driver.remove(spec.id);
    const next = await fixture.startMachine(t);
    await fixture.driver.attach(next.id, volume);
    assert.deepEqual(await fixture.world.attached(next.id), [{ ...volume, sizeGb: 2 }]);
  });

  it('a deleted volume is created again when attached, and deleting a missing one is no error', async (t) => {
    const { id } = await fixture.startMachine(t);
    const volume = { id: fixture.newVolumeId(t), sizeGb: 1, device: '/dev/vdb' };
    await fixture.driver.attach(id, { ...volume, sizeGb: 2 });
    for (const _ of ['once', 'again']) await fixture.driver.removeVolume(volume.id);
    assert.deepEqual(await fixture.world.attached(id), []);
    await fixture.driver.detach(volume.id);
    await fixture.driver.grow(volume.id, 3);
    await fixture.driver.attach(id, volume);
    assert.deepEqual(await fixture.world.attached(id), [volume]);
    await failsAs('refused', fixture.driver.attach('never-made', volume));
  });

  it('a snapshot is taken once, is smaller than the disk, and never changes', async (t) => {
    const { id, diskGb } = await fixture.startMachine(t);
    const snapshot = await createSnapshot(t, id);
    const made = await fixture.driver.snapshot(id, snapshot);
    assert.ok(made.sizeGb > 0 && made.sizeGb < diskGb, `${made.sizeGb} GiB`);
    await fixture.driver.power(id, 'off');
    assert.deepEqual(await fixture.driver.snapshot(id, snapshot), made);
    await createSnapshot(t, id);
  });

  it('a snapshot survives its machine and can be restored to a large enough disk', async (t) => {
    const source = await fixture.startMachine(t, { diskGb: 8 });
    const snapshot = await createSnapshot(t, source.id);
    await fixture.driver.remove(source.id);
    const [fits, tooSmall] = [await fixture.startMachine(t, { diskGb: 8 }), await fixture.startMachine(t)];
    await fixture.driver.restore({ ...fits, generation: 2 }, snapshot);
    assert.deepEqual(
      [(await fixture.observe(fits.id)).state, (await fixture.observe(fits.id)).generation],
      ['installing', 2],
    );
    await fixture.waitForState(fits.id, 'running');
    await failsAs('refused', fixture.driver.restore({ ...tooSmall, generation: 2 }, snapshot));
    assert.equal((await fixture.observe(tooSmall.id)).generation, 1);
  });

  it('a machine is created from a snapshot, also after the machine of the snapshot is gone', async (t) => {
    const source = await fixture.startMachine(t, { diskGb: 8 });
    const snapshot = await createSnapshot(t, source.id);
    await fixture.driver.remove(source.id);
    const tooSmall = { id: fixture.newMachineId(t), diskGb: 4, snapshotId: snapshot };
    await failsAs('refused', fixture.driver.ensure(fixture.spec(tooSmall)));
    assert.equal((await fixture.observe(tooSmall.id)).state, 'absent');
    const spec = fixture.spec({ id: fixture.newMachineId(t), diskGb: 8, snapshotId: snapshot });
    await fixture.world.eventually(async () => await fixture.driver.ensure(spec).then(() => true, isWaiting));
    await fixture.waitForState(spec.id, 'running');
    await fixture.driver.removeSnapshot(snapshot);
    await fixture.driver.ensure(spec);
    assert.deepEqual(
      [(await fixture.observe(spec.id)).state, (await fixture.observe(spec.id)).generation],
      ['running', 1],
    );
    const late = { id: fixture.newMachineId(t), diskGb: 8, snapshotId: snapshot };
    await failsAs('refused', fixture.driver.ensure(fixture.spec(late)));
  });

  it('a finished restore can be repeated after its snapshot is deleted', async (t) => {
    const spec = await fixture.startMachine(t);
    const snapshot = await createSnapshot(t, spec.id);
    await fixture.driver.restore({ ...spec, generation: 2 }, snapshot);
    for (const _ of ['once', 'again']) await fixture.driver.removeSnapshot(snapshot);
    await fixture.driver.restore({ ...spec, generation: 2 }, snapshot);
    await fixture.waitForState(spec.id, 'running');
    await failsAs('refused', fixture.driver.restore({ ...spec, generation: 3 }, snapshot));
    assert.equal((await fixture.observe(spec.id)).generation, 2);
  });

  it('a snapshot of an absent or installing machine is refused', async (t) => {
    await failsAs('refused', fixture.driver.snapshot('never-made', fixture.newSnapshotId(t)));
    const spec = await fixture.startMachine(t);
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    await failsAs('refused', fixture.driver.snapshot(spec.id, fixture.newSnapshotId(t)));
  });
}

function isWaiting(error: unknown): false {
  if (error instanceof ComputeError && error.fault === 'waiting') return false;
  throw error;
}
