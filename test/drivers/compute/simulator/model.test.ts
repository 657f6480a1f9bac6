/** Random histories: compares the simulator with an in-memory model of its rules. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { ComputeError, type PowerAction } from '../../../../src/ports/compute.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { machineSpec } from '../compute-world.ts';
import { INSTALL_S, type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

const HOSTS = ['one', 'two'];
const NAMES = ['a', 'b', 'c'];
const ROOM = 1;
const SHUTDOWN_S = 2;

type Step =
  | { do: 'ensure'; id: string; host: string }
  | { do: 'remove'; id: string }
  | { do: 'power'; id: string; action: PowerAction }
  | { do: 'rebuild'; id: string; host: string; generation: number }
  | { do: 'rescue'; id: string }
  | { do: 'wait'; seconds: number };

const id = fc.constantFrom(...NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('ensure' as const), id, host: fc.constantFrom(...HOSTS) }),
  fc.record({ do: fc.constant('remove' as const), id }),
  fc.record({
    do: fc.constant('rebuild' as const),
    id,
    host: fc.constantFrom(...HOSTS),
    generation: fc.integer({ min: 1, max: 5 }),
  }),
  fc.record({ do: fc.constant('rescue' as const), id }),
  fc.record({
    do: fc.constant('power' as const),
    id,
    action: fc.constantFrom<PowerAction>('on', 'off', 'acpi', 'reset'),
  }),
  fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, SHUTDOWN_S, INSTALL_S) }),
);

/** A machine that counts down instead of comparing times. */
interface ModelMachine {
  host: string;
  on: boolean;
  rescue: boolean;
  generation: number;
  installLeftS: number;
  offInS: number | null;
}

const FRESH = { on: true, rescue: false, installLeftS: INSTALL_S, offInS: null };
const OFF = { on: false, rescue: false, offInS: null };

class Model {
  readonly machines = new Map<string, ModelMachine>();

  /** Applies one step. Returns 'done' or the expected fault. */
  apply(now: Step): string {
    if (now.do === 'wait') this.#wait(now.seconds);
    else if (now.do === 'remove') this.machines.delete(now.id);
    else if (now.do === 'ensure') return this.#ensure(now.id, now.host);
    else if (now.do === 'rebuild') return this.#rebuild(now.id, now.host, now.generation);
    else if (now.do === 'rescue') return this.#rescue(now.id);
    else return this.#power(now.id, now.action);
    return 'done';
  }

  state(name: string): string {
    const twin = this.machines.get(name);
    if (!twin) return 'absent';
    if (!twin.on) return 'stopped';
    return twin.installLeftS > 0 && !twin.rescue ? 'installing' : 'running';
  }

  #ensure(name: string, host: string): string {
    const twin = this.machines.get(name);
    if (twin) return twin.host === host ? 'done' : 'refused';
    if ([...this.machines.values()].filter((t) => t.host === host).length >= ROOM) return 'host';
    this.machines.set(name, { host, ...FRESH, generation: 1 });
    return 'done';
  }

  #rebuild(name: string, host: string, generation: number): string {
    const twin = this.machines.get(name);
    if (!twin || twin.host !== host || twin.generation > generation) return 'refused';
    if (twin.generation < generation) Object.assign(twin, { ...FRESH, generation });
    return 'done';
  }

  #rescue(name: string): string {
    const twin = this.machines.get(name);
    if (!twin) return 'refused';
    if (!twin.rescue) Object.assign(twin, { on: true, rescue: true, offInS: null });
    return 'done';
  }

  #power(name: string, action: PowerAction): string {
    const twin = this.machines.get(name);
    if (!twin) return 'refused';
    const up = this.state(name) === 'running';
    if (action === 'off') Object.assign(twin, OFF);
    if (action === 'on') twin.on = true;
    if (action === 'acpi' && up) twin.offInS ??= SHUTDOWN_S;
    if (action === 'reset' && twin.on) Object.assign(twin, { offInS: null, rescue: false });
    return 'done';
  }

  #wait(seconds: number): void {
    for (const twin of this.machines.values()) {
      if (!twin.on) continue;
      if (!twin.rescue) twin.installLeftS -= seconds;
      if (twin.offInS === null) continue;
      twin.offInS -= seconds;
      if (twin.offInS <= 0) Object.assign(twin, OFF);
    }
  }
}

async function applyToDriver({ driver, clock }: SimulatedWorld, now: Step): Promise<string> {
  try {
    if (now.do === 'wait') clock.advanceS(now.seconds);
    else if (now.do === 'remove') await driver.remove(now.id);
    else if (now.do === 'power') await driver.power(now.id, now.action);
    else if (now.do === 'rescue') await driver.rescue(now.id, { passwordHash: 'x' });
    else {
      const spec = machineSpec({ ...now, cpu: 8, ramMb: 1024, diskGb: 10 });
      await (now.do === 'ensure' ? driver.ensure(spec) : driver.rebuild(spec));
    }
    return 'done';
  } catch (error) {
    if (error instanceof ComputeError) return error.fault;
    throw error;
  }
}

describe('the simulator', () => {
  let world: SimulatedWorld;
  before(async () => {
    world = await simulatedWorld();
    const size = { cpu: ROOM, ramMb: 1024 * ROOM, diskGb: 10 * ROOM };
    await world.control.addHosts(HOSTS.map((name) => ({ name, ...size })));
  });
  after(() => world.close());

  it('the simulator matches its model through any history', async () => {
    const history = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await world.db.run('delete from sim.machines');
      const model = new Model();
      for (const now of steps) {
        assert.equal(await applyToDriver(world, now), model.apply(now));
        const expected = NAMES.map((name) => ({
          id: name,
          host: model.machines.get(name)?.host ?? null,
          state: model.state(name),
          generation: model.machines.get(name)?.generation ?? null,
          rescue: model.machines.get(name)?.rescue ?? false,
        }));
        assert.deepEqual(await world.driver.observe(NAMES), expected);
      }
    });
    await fc.assert(history, { numRuns: PROPERTY_RUNS });
  });
});
