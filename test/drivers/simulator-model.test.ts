/** Random histories: the simulator against the same rules kept in plain memory. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { ComputeError, type PowerAction } from '../../src/ports/compute.ts';
import { machineSpec } from './compute-world.ts';
import { INSTALL_S, type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

const HOSTS = ['one', 'two'];
const NAMES = ['a', 'b', 'c'];
const ROOM = 1;
const SHUTDOWN_S = 2;

type Step =
  | { do: 'ensure'; id: string; host: string }
  | { do: 'remove'; id: string }
  | { do: 'power'; id: string; action: PowerAction }
  | { do: 'wait'; seconds: number };

const id = fc.constantFrom(...NAMES);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('ensure' as const), id, host: fc.constantFrom(...HOSTS) }),
  fc.record({ do: fc.constant('remove' as const), id }),
  fc.record({
    do: fc.constant('power' as const),
    id,
    action: fc.constantFrom<PowerAction>('on', 'off', 'acpi', 'reset'),
  }),
  fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, SHUTDOWN_S, INSTALL_S) }),
);

/** A machine that counts down instead of comparing dates. */
interface Twin {
  host: string;
  on: boolean;
  installLeftS: number;
  offInS: number | null;
}

class Model {
  readonly twins = new Map<string, Twin>();

  /** Plays one step; answers 'done' or the fault it must fail with. */
  play(now: Step): string {
    if (now.do === 'wait') this.#wait(now.seconds);
    else if (now.do === 'remove') this.twins.delete(now.id);
    else if (now.do === 'ensure') return this.#ensure(now.id, now.host);
    else return this.#power(now.id, now.action);
    return 'done';
  }

  state(name: string): string {
    const twin = this.twins.get(name);
    if (!twin) return 'absent';
    if (!twin.on) return 'stopped';
    return twin.installLeftS > 0 ? 'installing' : 'running';
  }

  #ensure(name: string, host: string): string {
    const twin = this.twins.get(name);
    if (twin) return twin.host === host ? 'done' : 'refused';
    if ([...this.twins.values()].filter((t) => t.host === host).length >= ROOM) return 'host';
    this.twins.set(name, { host, on: true, installLeftS: INSTALL_S, offInS: null });
    return 'done';
  }

  #power(name: string, action: PowerAction): string {
    const twin = this.twins.get(name);
    if (!twin) return 'refused';
    const up = this.state(name) === 'running';
    if (action === 'off') Object.assign(twin, { on: false, offInS: null });
    if (action === 'on') twin.on = true;
    if (action === 'acpi' && up) twin.offInS ??= SHUTDOWN_S;
    if (action === 'reset' && up) twin.offInS = null;
    return 'done';
  }

  #wait(seconds: number): void {
    for (const twin of this.twins.values()) {
      if (!twin.on) continue;
      twin.installLeftS -= seconds;
      if (twin.offInS === null) continue;
      twin.offInS -= seconds;
      if (twin.offInS <= 0) Object.assign(twin, { on: false, offInS: null });
    }
  }
}

async function play({ driver, clock }: SimulatedWorld, now: Step): Promise<string> {
  try {
    if (now.do === 'wait') clock.advanceS(now.seconds);
    else if (now.do === 'remove') await driver.remove(now.id);
    else if (now.do === 'power') await driver.power(now.id, now.action);
    else {
      const size = { cpu: 8, ramMb: 1024, diskGb: 10 };
      await driver.ensure(machineSpec({ id: now.id, host: now.host, ...size }));
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

  it('does through any history what its rules say', async () => {
    const numRuns = Number(process.env.SKERRY_TEST_RUNS ?? 15);
    const history = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await world.db.run('delete from sim.machines');
      const model = new Model();
      for (const now of steps) {
        assert.equal(await play(world, now), model.play(now));
        const expected = NAMES.map((name) => ({
          id: name,
          host: model.twins.get(name)?.host ?? null,
          state: model.state(name),
          generation: model.twins.has(name) ? 1 : null,
          rescue: false,
        }));
        assert.deepEqual(await world.driver.observe(NAMES), expected);
      }
    });
    await fc.assert(history, { numRuns });
  });
});
