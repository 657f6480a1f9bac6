/** The compute contract for machines: create, power, remove, observe. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ContractFixture, failsAs } from './compute-world.ts';

export function machinesContract(fixture: ContractFixture): void {
  it('a machine installs on its host, then runs there', async (t) => {
    const id = fixture.newMachineId(t);
    const host = fixture.world.hosts[0];
    assert.deepEqual(await fixture.observe(id), {
      id,
      host: null,
      state: 'absent',
      generation: null,
      rescue: false,
    });
    await fixture.driver.ensure(fixture.spec({ id, host }));
    assert.deepEqual(await fixture.observe(id), {
      id,
      host,
      state: 'installing',
      generation: 1,
      rescue: false,
    });
    await fixture.waitForState(id, 'running');
    assert.deepEqual(await fixture.observe(id), { id, host, state: 'running', generation: 1, rescue: false });
  });

  it('a machine that is created off stays off, and installs when it is powered on', async (t) => {
    const spec = fixture.spec({ id: fixture.newMachineId(t), createdOff: true });
    for (const _ of ['once', 'again']) {
      await fixture.driver.ensure(spec);
      assert.equal((await fixture.observe(spec.id)).state, 'stopped');
    }
    await fixture.driver.superviseMachines();
    assert.equal((await fixture.observe(spec.id)).state, 'stopped');
    await fixture.driver.power(spec.id, 'on');
    assert.equal((await fixture.observe(spec.id)).state, 'installing');
    await fixture.waitForState(spec.id, 'running');
    await fixture.driver.ensure(spec);
    assert.equal((await fixture.observe(spec.id)).state, 'running');
  });

  it('ensuring the same id twice yields one machine and leaves it running', async (t) => {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.ensure(fixture.spec({ id }));
    assert.equal((await fixture.observe(id)).state, 'running');
    await fixture.driver.remove(id);
    assert.equal((await fixture.observe(id)).state, 'absent');
  });

  it('an unknown host is a host error', async (t) => {
    await failsAs(
      'host',
      fixture.driver.ensure(fixture.spec({ id: fixture.newMachineId(t), host: 'nowhere' })),
    );
  });

  it('a machine on one host is refused on another until it is removed', async (t) => {
    const { id } = await fixture.startMachine(t);
    const [first, second] = fixture.world.hosts;
    await failsAs('refused', fixture.driver.ensure(fixture.spec({ id, host: second })));
    assert.deepEqual(await fixture.observe(id), {
      id,
      host: first,
      state: 'running',
      generation: 1,
      rescue: false,
    });
    await fixture.driver.remove(id);
    await fixture.driver.ensure(fixture.spec({ id, host: second }));
    assert.equal((await fixture.observe(id)).host, second);
  });

  it('removing a machine can be repeated', async (t) => {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.remove(id);
    await fixture.driver.remove(id);
    await fixture.driver.remove('never-made');
    assert.deepEqual(await fixture.observe(id), {
      id,
      host: null,
      state: 'absent',
      generation: null,
      rescue: false,
    });
  });

  it('power off stops a machine, power on starts it, and both can be repeated', async (t) => {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.power(id, 'on');
    for (const _ of ['once', 'again']) {
      await fixture.driver.power(id, 'off');
      await fixture.waitForState(id, 'stopped');
    }
    for (const _ of ['once', 'again']) {
      await fixture.driver.power(id, 'on');
      await fixture.waitForState(id, 'running');
    }
  });

  it('a guest shuts down on an ACPI request and stays off', async (t) => {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.power(id, 'acpi');
    await fixture.waitForState(id, 'stopped');
    await fixture.driver.ensure(fixture.spec({ id }));
    assert.equal((await fixture.observe(id)).state, 'stopped');
  });

  it('a reset machine runs again', async (t) => {
    const { id } = await fixture.startMachine(t);
    await fixture.driver.power(id, 'reset');
    await fixture.waitForState(id, 'running');
  });

  it('a machine is resized while it is on or off, and its disk never shrinks', async (t) => {
    const { id, cpu, ramMb, diskGb } = await fixture.startMachine(t);
    const larger = { cpu: cpu + 1, ramMb: ramMb * 2, diskGb: diskGb + 1 };
    for (const _ of ['once', 'again'])
      assert.deepEqual(await fixture.driver.resize(id, larger), { diskGb: diskGb + 1 });
    assert.equal((await fixture.observe(id)).state, 'running');
    await fixture.driver.power(id, 'off');
    await fixture.waitForState(id, 'stopped');
    assert.deepEqual(await fixture.driver.resize(id, { ...larger, diskGb: diskGb + 2 }), {
      diskGb: diskGb + 2,
    });
    assert.equal((await fixture.observe(id)).state, 'stopped');
    await fixture.driver.power(id, 'on');
    await fixture.waitForState(id, 'running');
    await fixture.driver.power(id, 'off');
    assert.deepEqual(await fixture.driver.resize(id, { cpu, ramMb, diskGb }), { diskGb: diskGb + 2 });
    await fixture.driver.power(id, 'on');
    await fixture.waitForState(id, 'running');
  });

  it('an absent machine is not resized', async () => {
    await failsAs('refused', fixture.driver.resize('never-made', { cpu: 1, ramMb: 512, diskGb: 4 }));
  });

  it('the drive for ISO images is emptied while a machine is on or off, which stays as it is', async (t) => {
    const { id } = await fixture.startMachine(t);
    for (const state of ['running', 'stopped'] as const) {
      if (state === 'stopped') await fixture.driver.power(id, 'off');
      await fixture.waitForState(id, state);
      for (const _ of ['once', 'again']) await fixture.driver.setIso(id, { iso: null, boot: 'disk' });
      assert.equal((await fixture.observe(id)).state, state);
    }
  });

  it('an absent machine has no drive for ISO images', async () => {
    await failsAs('refused', fixture.driver.setIso('never-made', { iso: null, boot: 'disk' }));
  });

  it('power actions on an absent machine are refused', async () => {
    for (const action of ['on', 'off', 'acpi', 'reset'] as const) {
      await failsAs('refused', fixture.driver.power('never-made', action));
    }
  });

  it('machines are observed in the requested order, with absent ones and repeats', async (t) => {
    const { id: one } = await fixture.startMachine(t);
    const two = fixture.newMachineId(t);
    await fixture.driver.ensure(fixture.spec({ id: two, host: fixture.world.hosts[1] }));
    const asked = [two, 'never-made', one, two];
    const seen = await fixture.driver.observe(asked);
    assert.deepEqual(
      seen.map((machine) => [machine.id, machine.host]),
      [
        [two, fixture.world.hosts[1]],
        ['never-made', null],
        [one, fixture.world.hosts[0]],
        [two, fixture.world.hosts[1]],
      ],
    );
    assert.deepEqual(await fixture.driver.observe([]), []);
  });
}
