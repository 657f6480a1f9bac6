/** What every compute driver does with a machine's disk: rebuild it, and leave it alone in a rescue. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { MachineSpec } from '../../src/ports/compute.ts';
import { type ContractBench, type Ending, failsAs } from './compute-world.ts';

const ACCESS = { passwordHash: '$6$rescue$hash' };

export function disksContract(bench: ContractBench): void {
  async function rescued(t: Ending): Promise<string> {
    const { id } = await bench.running(t);
    await bench.driver.rescue(id, ACCESS);
    await inRescue(id);
    return id;
  }
  async function inRescue(id: string): Promise<void> {
    await bench.world.eventually(async () => {
      const { state, rescue } = await bench.seen(id);
      return state === 'running' && rescue;
    });
  }
  async function rebuilt(spec: MachineSpec): Promise<void> {
    await bench.driver.rebuild(spec);
    await bench.until(spec.id, 'running');
    const { host, generation, rescue } = await bench.seen(spec.id);
    assert.deepEqual([host, generation, rescue], [spec.host, spec.generation, false]);
  }

  it('a rebuild installs on the next disk and then runs from it', async (t) => {
    const spec = { ...(await bench.running(t)), generation: 2 };
    await bench.driver.rebuild(spec);
    assert.deepEqual(await bench.seen(spec.id), {
      id: spec.id,
      host: spec.host,
      state: 'installing',
      generation: 2,
      rescue: false,
    });
    await bench.until(spec.id, 'running');
  });

  it('a rebuild onto the disk that the machine is on is done already', async (t) => {
    const spec = await bench.running(t);
    await bench.driver.rebuild(spec);
    assert.equal((await bench.seen(spec.id)).state, 'running');
    await rebuilt({ ...spec, generation: 2 });
    await bench.driver.rebuild({ ...spec, generation: 2 });
    assert.equal((await bench.seen(spec.id)).state, 'running');
    await bench.driver.power(spec.id, 'off');
    await bench.driver.rebuild({ ...spec, generation: 2 });
    await bench.until(spec.id, 'stopped');
  });

  it('a disk that was left never comes back, nor does a machine move for a rebuild', async (t) => {
    const spec = await bench.running(t);
    await rebuilt({ ...spec, generation: 3 });
    await failsAs('refused', bench.driver.rebuild({ ...spec, generation: 2 }));
    await failsAs('refused', bench.driver.rebuild({ ...spec, generation: 4, host: bench.world.hosts[1] }));
    assert.equal((await bench.seen(spec.id)).generation, 3);
  });

  it('a machine that is off, in its rescue system or still installing is rebuilt and runs', async (t) => {
    const off = await bench.running(t);
    await bench.driver.power(off.id, 'off');
    await rebuilt({ ...off, generation: 2 });
    const id = await rescued(t);
    await rebuilt(bench.spec({ id, generation: 2 }));
    await bench.driver.rebuild({ ...off, generation: 3 });
    await rebuilt({ ...off, generation: 4 });
  });

  it('an absent machine is neither rebuilt nor rescued', async () => {
    const spec = bench.spec({ id: 'never-made', generation: 2 });
    await failsAs('refused', bench.driver.rebuild(spec));
    await failsAs('refused', bench.driver.rescue(spec.id, ACCESS));
    assert.equal((await bench.seen(spec.id)).state, 'absent');
  });

  it('a rescue may be asked for twice, and a reset leaves it', async (t) => {
    const id = await rescued(t);
    await bench.driver.rescue(id, ACCESS);
    await bench.driver.power(id, 'on');
    await inRescue(id);
    await bench.driver.power(id, 'reset');
    await bench.until(id, 'running');
    assert.deepEqual([(await bench.seen(id)).rescue, (await bench.seen(id)).generation], [false, 1]);
  });

  it('a rescue system shuts down when asked, and the machine starts from its disk again', async (t) => {
    const id = await rescued(t);
    // It counts as running from its start on, and hears only when it is up: whoever wants it off asks again.
    await bench.world.eventually(async () => {
      await bench.driver.power(id, 'acpi');
      return (await bench.seen(id)).state === 'stopped';
    });
    assert.equal((await bench.seen(id)).rescue, false);
    await bench.driver.power(id, 'on');
    await bench.until(id, 'running');
    assert.equal((await bench.seen(id)).rescue, false);
  });

  it('a machine that is off is rescued, too', async (t) => {
    const { id } = await bench.running(t);
    await bench.driver.power(id, 'off');
    await bench.driver.rescue(id, ACCESS);
    await inRescue(id);
  });
}
