/** What every compute driver does with machines: make, switch, remove, look. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ContractBench, failsAs } from './compute-world.ts';

export function machinesContract(bench: ContractBench): void {
  it('a machine installs on its host, then runs there', async (t) => {
    const id = bench.fresh(t);
    const host = bench.world.hosts[0];
    assert.deepEqual(await bench.seen(id), {
      id,
      host: null,
      state: 'absent',
      generation: null,
      rescue: false,
    });
    await bench.driver.ensure(bench.spec({ id, host }));
    assert.deepEqual(await bench.seen(id), { id, host, state: 'installing', generation: 1, rescue: false });
    await bench.until(id, 'running');
    assert.deepEqual(await bench.seen(id), { id, host, state: 'running', generation: 1, rescue: false });
  });

  it('the same id twice is one machine, and what runs is left alone', async (t) => {
    const { id } = await bench.running(t);
    await bench.driver.ensure(bench.spec({ id }));
    assert.equal((await bench.seen(id)).state, 'running');
    await bench.driver.remove(id);
    assert.equal((await bench.seen(id)).state, 'absent');
  });

  it('a host nobody knows is a fault of the host', async (t) => {
    await failsAs('host', bench.driver.ensure(bench.spec({ id: bench.fresh(t), host: 'nowhere' })));
  });

  it('a machine that lives on one host is refused on another until it is removed', async (t) => {
    const { id } = await bench.running(t);
    const [first, second] = bench.world.hosts;
    await failsAs('refused', bench.driver.ensure(bench.spec({ id, host: second })));
    assert.deepEqual(await bench.seen(id), {
      id,
      host: first,
      state: 'running',
      generation: 1,
      rescue: false,
    });
    await bench.driver.remove(id);
    await bench.driver.ensure(bench.spec({ id, host: second }));
    assert.equal((await bench.seen(id)).host, second);
  });

  it('removing is done once and may be asked for ever', async (t) => {
    const { id } = await bench.running(t);
    await bench.driver.remove(id);
    await bench.driver.remove(id);
    await bench.driver.remove('never-made');
    assert.deepEqual(await bench.seen(id), {
      id,
      host: null,
      state: 'absent',
      generation: null,
      rescue: false,
    });
  });

  it('power off stops a machine, power on starts it, and each may be repeated', async (t) => {
    const { id } = await bench.running(t);
    await bench.driver.power(id, 'on');
    for (const _ of ['once', 'again']) {
      await bench.driver.power(id, 'off');
      await bench.until(id, 'stopped');
    }
    for (const _ of ['once', 'again']) {
      await bench.driver.power(id, 'on');
      await bench.until(id, 'running');
    }
  });

  it('a guest that is asked to shut down does so in its own time', async (t) => {
    const { id } = await bench.running(t);
    await bench.driver.power(id, 'acpi');
    await bench.until(id, 'stopped');
    await bench.driver.ensure(bench.spec({ id }));
    assert.equal((await bench.seen(id)).state, 'stopped');
  });

  it('a reset machine runs again', async (t) => {
    const { id } = await bench.running(t);
    await bench.driver.power(id, 'reset');
    await bench.until(id, 'running');
  });

  it('an absent machine has no power button', async () => {
    for (const action of ['on', 'off', 'acpi', 'reset'] as const) {
      await failsAs('refused', bench.driver.power('never-made', action));
    }
  });

  it('machines are observed in the order asked, absent ones and repeats included', async (t) => {
    const { id: one } = await bench.running(t);
    const two = bench.fresh(t);
    await bench.driver.ensure(bench.spec({ id: two, host: bench.world.hosts[1] }));
    const asked = [two, 'never-made', one, two];
    const seen = await bench.driver.observe(asked);
    assert.deepEqual(
      seen.map((machine) => [machine.id, machine.host]),
      [
        [two, bench.world.hosts[1]],
        ['never-made', null],
        [one, bench.world.hosts[0]],
        [two, bench.world.hosts[1]],
      ],
    );
    assert.deepEqual(await bench.driver.observe([]), []);
  });
}
