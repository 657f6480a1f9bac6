/** What every compute driver does with volumes and snapshots. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ContractFixture, failsAs, type TestScope } from './compute-world.ts';

export function storageContract(fixture: ContractFixture): void {
  /** A snapshot of the machine, ready. */
  async function createSnapshot(t: TestScope, machineId: string): Promise<string> {
    const id = fixture.newSnapshotId(t);
    await fixture.world.eventually(
      async () => (await fixture.driver.snapshot(machineId, id)).state === 'ready',
    );
    return id;
  }

  it('a volume is made when it is first attached, and attaching it again changes nothing', async (t) => {
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

  it('a device holds one volume', async (t) => {
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

  it('volumes stay through a rebuild and survive their machine', async (t) => {
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

  it('a volume that is gone is made anew, and its absence is no fault', async (t) => {
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

  it('a snapshot is made once, smaller than the disk, and says so for ever', async (t) => {
    const { id, diskGb } = await fixture.startMachine(t);
    const snapshot = await createSnapshot(t, id);
    const made = await fixture.driver.snapshot(id, snapshot);
    assert.ok(made.sizeGb > 0 && made.sizeGb < diskGb, `${made.sizeGb} GiB`);
    await fixture.driver.power(id, 'off');
    assert.deepEqual(await fixture.driver.snapshot(id, snapshot), made);
    await createSnapshot(t, id);
  });

  it('a snapshot survives its machine and is restored to others that are large enough', async (t) => {
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

  it('a restore that is done is done, even when its snapshot is gone', async (t) => {
    const spec = await fixture.startMachine(t);
    const snapshot = await createSnapshot(t, spec.id);
    await fixture.driver.restore({ ...spec, generation: 2 }, snapshot);
    for (const _ of ['once', 'again']) await fixture.driver.removeSnapshot(snapshot);
    await fixture.driver.restore({ ...spec, generation: 2 }, snapshot);
    await fixture.waitForState(spec.id, 'running');
    await failsAs('refused', fixture.driver.restore({ ...spec, generation: 3 }, snapshot));
    assert.equal((await fixture.observe(spec.id)).generation, 2);
  });

  it('a machine that is absent or in mid-install has nothing to keep', async (t) => {
    await failsAs('refused', fixture.driver.snapshot('never-made', fixture.newSnapshotId(t)));
    const spec = await fixture.startMachine(t);
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    await failsAs('refused', fixture.driver.snapshot(spec.id, fixture.newSnapshotId(t)));
  });
}
