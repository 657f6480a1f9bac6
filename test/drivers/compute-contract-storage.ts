/** What every compute driver does with volumes and snapshots. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ContractBench, type Ending, failsAs } from './compute-world.ts';

export function storageContract(bench: ContractBench): void {
  /** A snapshot of the machine, ready. */
  async function snapshotOf(t: Ending, machineId: string): Promise<string> {
    const id = bench.freshSnapshot(t);
    await bench.world.eventually(async () => (await bench.driver.snapshot(machineId, id)).state === 'ready');
    return id;
  }

  it('a volume is made when it is first attached, and attaching it again changes nothing', async (t) => {
    const { id } = await bench.running(t);
    const volume = { id: bench.freshVolume(t), sizeGb: 1, device: '/dev/vdb' };
    for (const _ of ['once', 'again']) {
      await bench.driver.attach(id, volume);
      assert.deepEqual(await bench.world.attached(id), [volume]);
    }
    for (const _ of ['once', 'again']) {
      await bench.driver.detach(volume.id);
      assert.deepEqual(await bench.world.attached(id), []);
    }
  });

  it('a volume is attached to one machine at a time', async (t) => {
    const [one, two] = [await bench.running(t), await bench.running(t)];
    const volume = { id: bench.freshVolume(t), sizeGb: 1, device: '/dev/vdb' };
    await bench.driver.attach(one.id, volume);
    await bench.driver.attach(two.id, volume);
    assert.deepEqual(await bench.world.attached(one.id), []);
    assert.deepEqual(await bench.world.attached(two.id), [volume]);
  });

  it('a device holds one volume', async (t) => {
    const { id } = await bench.running(t);
    const [volume, other] = [bench.freshVolume(t), bench.freshVolume(t)];
    await bench.driver.attach(id, { id: volume, sizeGb: 1, device: '/dev/vdb' });
    const wanted = { id: other, sizeGb: 1, device: '/dev/vdb' };
    await failsAs('transient', bench.driver.attach(id, wanted));
    await bench.driver.detach(volume);
    await bench.driver.attach(id, wanted);
    assert.deepEqual(await bench.world.attached(id), [wanted]);
  });

  it('a volume grows while it is attached and never shrinks', async (t) => {
    const { id } = await bench.running(t);
    const volume = { id: bench.freshVolume(t), sizeGb: 1, device: '/dev/vdb' };
    await bench.driver.attach(id, volume);
    for (const sizeGb of [2, 2, 1]) await bench.driver.grow(volume.id, sizeGb);
    assert.deepEqual(await bench.world.attached(id), [{ ...volume, sizeGb: 2 }]);
    await bench.driver.detach(volume.id);
    await bench.driver.attach(id, volume);
    assert.deepEqual(await bench.world.attached(id), [{ ...volume, sizeGb: 2 }]);
  });

  it('volumes stay through a rebuild and survive their machine', async (t) => {
    const spec = await bench.running(t);
    const volume = { id: bench.freshVolume(t), sizeGb: 1, device: '/dev/vdb' };
    await bench.driver.attach(spec.id, volume);
    await bench.driver.grow(volume.id, 2);
    await bench.driver.rebuild({ ...spec, generation: 2 });
    await bench.until(spec.id, 'running');
    assert.deepEqual(await bench.world.attached(spec.id), [{ ...volume, sizeGb: 2 }]);
    await bench.driver.remove(spec.id);
    const next = await bench.running(t);
    await bench.driver.attach(next.id, volume);
    assert.deepEqual(await bench.world.attached(next.id), [{ ...volume, sizeGb: 2 }]);
  });

  it('a volume that is gone is made anew, and its absence is no fault', async (t) => {
    const { id } = await bench.running(t);
    const volume = { id: bench.freshVolume(t), sizeGb: 1, device: '/dev/vdb' };
    await bench.driver.attach(id, { ...volume, sizeGb: 2 });
    for (const _ of ['once', 'again']) await bench.driver.removeVolume(volume.id);
    assert.deepEqual(await bench.world.attached(id), []);
    await bench.driver.detach(volume.id);
    await bench.driver.grow(volume.id, 3);
    await bench.driver.attach(id, volume);
    assert.deepEqual(await bench.world.attached(id), [volume]);
    await failsAs('refused', bench.driver.attach('never-made', volume));
  });

  it('a snapshot is made once, smaller than the disk, and says so for ever', async (t) => {
    const { id, diskGb } = await bench.running(t);
    const snapshot = await snapshotOf(t, id);
    const made = await bench.driver.snapshot(id, snapshot);
    assert.ok(made.sizeGb > 0 && made.sizeGb < diskGb, `${made.sizeGb} GiB`);
    await bench.driver.power(id, 'off');
    assert.deepEqual(await bench.driver.snapshot(id, snapshot), made);
    await snapshotOf(t, id);
  });

  it('a snapshot survives its machine and is restored to others that are large enough', async (t) => {
    const source = await bench.running(t, { diskGb: 8 });
    const snapshot = await snapshotOf(t, source.id);
    await bench.driver.remove(source.id);
    const [fits, tooSmall] = [await bench.running(t, { diskGb: 8 }), await bench.running(t)];
    await bench.driver.restore({ ...fits, generation: 2 }, snapshot);
    assert.deepEqual(
      [(await bench.seen(fits.id)).state, (await bench.seen(fits.id)).generation],
      ['installing', 2],
    );
    await bench.until(fits.id, 'running');
    await failsAs('refused', bench.driver.restore({ ...tooSmall, generation: 2 }, snapshot));
    assert.equal((await bench.seen(tooSmall.id)).generation, 1);
  });

  it('a restore that is done is done, even when its snapshot is gone', async (t) => {
    const spec = await bench.running(t);
    const snapshot = await snapshotOf(t, spec.id);
    await bench.driver.restore({ ...spec, generation: 2 }, snapshot);
    for (const _ of ['once', 'again']) await bench.driver.removeSnapshot(snapshot);
    await bench.driver.restore({ ...spec, generation: 2 }, snapshot);
    await bench.until(spec.id, 'running');
    await failsAs('refused', bench.driver.restore({ ...spec, generation: 3 }, snapshot));
    assert.equal((await bench.seen(spec.id)).generation, 2);
  });

  it('a machine that is absent or in mid-install has nothing to keep', async (t) => {
    await failsAs('refused', bench.driver.snapshot('never-made', bench.freshSnapshot(t)));
    const spec = await bench.running(t);
    await bench.driver.rebuild({ ...spec, generation: 2 });
    await failsAs('refused', bench.driver.snapshot(spec.id, bench.freshSnapshot(t)));
  });
}
