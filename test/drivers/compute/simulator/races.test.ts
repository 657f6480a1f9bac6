import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { MachineSpec } from '../../../../src/ports/compute.ts';
import { ComputeError } from '../../../../src/ports/compute.ts';
import { machineSpec } from '../compute-world.ts';
import { INSTALL_S, type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

describe('concurrent callers of one simulated world', () => {
  let world: SimulatedWorld;
  beforeEach(async () => {
    world = await simulatedWorld();
    const size = { cpu: 64, ramMb: 7 * 512, diskGb: 4096 };
    await world.control.addHosts([
      { name: 'one', ...size },
      { name: 'two', ...size },
    ]);
  });
  afterEach(() => world.close());

  /** Runs all calls at once, each with its own driver, and returns their outcomes. */
  async function race(specs: readonly MachineSpec[]): Promise<string[]> {
    return await Promise.all(
      specs.map(async (spec) => {
        try {
          await world.newDriver().ensure(spec);
          return 'created';
        } catch (error) {
          if (error instanceof ComputeError) return error.fault;
          throw error;
        }
      }),
    );
  }
  const specs = (count: number, of: (n: number) => Pick<MachineSpec, 'id' | 'host'>) =>
    Array.from({ length: count }, (_, n) => machineSpec(of(n)));
  const count = (ends: string[], end: string) => ends.filter((e) => e === end).length;

  it('of sixty concurrent machines, exactly as many are created as the host has capacity for', async () => {
    const ends = await race(specs(60, (n) => ({ id: `m-${n}`, host: 'one' })));
    assert.deepEqual([count(ends, 'created'), count(ends, 'host')], [7, 53]);
    assert.equal((await world.control.machines()).length, 7);
  });

  it('sixty concurrent calls for one machine create one', async () => {
    const ends = await race(specs(60, () => ({ id: 'same', host: 'one' })));
    assert.equal(count(ends, 'created'), 60);
    assert.equal((await world.control.machines()).length, 1);
  });

  it('a machine requested on two hosts at once is created on one of them', async () => {
    for (let round = 0; round < 5; round++) {
      const ends = await race(specs(20, (n) => ({ id: `m-${round}`, host: n % 2 ? 'one' : 'two' })));
      assert.deepEqual([count(ends, 'created'), count(ends, 'refused')], [10, 10]);
    }
    assert.equal((await world.control.machines()).length, 5);
  });

  it('another process can continue with a machine that the first one created', async () => {
    await world.driver.ensure(machineSpec({ id: 'm', host: 'one' }));
    world.clock.advanceS(INSTALL_S / 2);
    const successor = world.newDriver();
    await successor.ensure(machineSpec({ id: 'm', host: 'one' }));
    world.clock.advanceS(INSTALL_S / 2);
    assert.deepEqual(
      (await successor.observe(['m'])).map(({ host, state }) => ({ host, state })),
      [{ host: 'one', state: 'running' }],
    );
    await successor.power('m', 'off');
    assert.equal(await world.state('m'), 'stopped');
  });

  it('the next due time is that of the install or shutdown that ends first', async () => {
    const { clock, control, driver } = world;
    const inS = async () => {
      const due = await control.nextDue();
      return due && (due.getTime() - clock.now().getTime()) / 1000;
    };
    assert.equal(await inS(), null);
    await driver.ensure(machineSpec({ id: 'a', host: 'one' }));
    clock.advanceS(10);
    await driver.ensure(machineSpec({ id: 'b', host: 'one' }));
    assert.equal(await inS(), INSTALL_S - 10);
    clock.advanceS(INSTALL_S - 10);
    assert.equal(await inS(), 10);
    await driver.power('a', 'acpi');
    assert.equal(await inS(), 2);
    await driver.remove('a');
    assert.equal(await inS(), 10);
    await driver.power('b', 'off');
    assert.equal(await inS(), null);
  });
});
