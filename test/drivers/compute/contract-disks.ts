/** The compute contract for a machine's disk: rebuilds change it, rescues leave it alone. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { MachineSpec } from '../../../src/ports/compute.ts';
import { type ContractFixture, failsAs, type TestScope } from './compute-world.ts';

const ACCESS = { passwordHash: '$6$rescue$hash' };

export function disksContract(fixture: ContractFixture): void {
  async function startRescued(t: TestScope): Promise<string> {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.rescue(id, ACCESS);
    await waitForRescue(id);
    return id;
  }
  async function waitForRescue(id: string): Promise<void> {
    await fixture.world.eventually(async () => {
      const { state, rescue } = await fixture.observe(id);
      return state === 'running' && rescue;
    });
  }
  async function rebuildAndWait(spec: MachineSpec): Promise<void> {
    await fixture.driver.rebuild(spec);
    await fixture.waitForState(spec.id, 'running');
    const { host, generation, rescue } = await fixture.observe(spec.id);
    assert.deepEqual([host, generation, rescue], [spec.host, spec.generation, false]);
  }

  it('a rebuild installs on the next disk and then runs from it', async (t) => {
    const spec = { ...(await fixture.startMachine(t)), generation: 2 };
    await fixture.driver.rebuild(spec);
    assert.deepEqual(await fixture.observe(spec.id), {
      id: spec.id,
      host: spec.host,
      state: 'installing',
      generation: 2,
      rescue: false,
    });
    await fixture.waitForState(spec.id, 'running');
  });

  it('a rebuild of the current generation changes nothing', async (t) => {
    const spec = await fixture.startMachine(t);
    await fixture.driver.rebuild(spec);
    assert.equal((await fixture.observe(spec.id)).state, 'running');
    await rebuildAndWait({ ...spec, generation: 2 });
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    assert.equal((await fixture.observe(spec.id)).state, 'running');
    await fixture.driver.power(spec.id, 'off');
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    await fixture.waitForState(spec.id, 'stopped');
  });

  it('a rebuild to an earlier generation or on another host is refused', async (t) => {
    const spec = await fixture.startMachine(t);
    await rebuildAndWait({ ...spec, generation: 3 });
    await failsAs('refused', fixture.driver.rebuild({ ...spec, generation: 2 }));
    await failsAs(
      'refused',
      fixture.driver.rebuild({ ...spec, generation: 4, host: fixture.world.hosts[1] }),
    );
    assert.equal((await fixture.observe(spec.id)).generation, 3);
  });

  it('a machine that is off, in rescue mode, or installing can be rebuilt and then runs', async (t) => {
    const off = await fixture.startMachine(t);
    await fixture.driver.power(off.id, 'off');
    await rebuildAndWait({ ...off, generation: 2 });
    const id = await startRescued(t);
    await rebuildAndWait(fixture.spec({ id, generation: 2 }));
    await fixture.driver.rebuild({ ...off, generation: 3 });
    await rebuildAndWait({ ...off, generation: 4 });
  });

  it('an absent machine can be neither rebuilt nor rescued', async () => {
    const spec = fixture.spec({ id: 'never-made', generation: 2 });
    await failsAs('refused', fixture.driver.rebuild(spec));
    await failsAs('refused', fixture.driver.rescue(spec.id, ACCESS));
    assert.equal((await fixture.observe(spec.id)).state, 'absent');
  });

  it('a rescue can be repeated, and a reset leaves it', async (t) => {
    const id = await startRescued(t);
    await fixture.driver.rescue(id, ACCESS);
    await fixture.driver.power(id, 'on');
    await waitForRescue(id);
    await fixture.driver.power(id, 'reset');
    await fixture.waitForState(id, 'running');
    assert.deepEqual(
      [(await fixture.observe(id)).rescue, (await fixture.observe(id)).generation],
      [false, 1],
    );
  });

  it('a rescue system shuts down on request, and the machine then boots from its disk', async (t) => {
    const id = await startRescued(t);
    // It counts as running from its start but reacts only when booted, so repeat the request.
    await fixture.world.eventually(async () => {
      await fixture.driver.power(id, 'acpi');
      return (await fixture.observe(id)).state === 'stopped';
    });
    assert.equal((await fixture.observe(id)).rescue, false);
    await fixture.driver.power(id, 'on');
    await fixture.waitForState(id, 'running');
    assert.equal((await fixture.observe(id)).rescue, false);
  });

  it('a machine that is off can be rescued', async (t) => {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.power(id, 'off');
    await fixture.driver.rescue(id, ACCESS);
    await waitForRescue(id);
  });
}
