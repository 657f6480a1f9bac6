import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PROTOCOL_VERSIONS } from '../../../../src/drivers/compute/host/wire.ts';
import { readVersion } from '../../../../src/kernel/settings/version.ts';
import type { ComputeDriver, HostFinding } from '../../../../src/ports/compute.ts';
import type { HostFacts } from '../../../../src/ports/host-facts.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';
import { type HostWorldOptions, hostWorld } from './host-world.ts';

describe('facts of a host on another machine', () => {
  let far: SimulatedWorld;
  before(async () => {
    far = await simulatedWorld();
    await far.control.addHost({ name: 'far', cpu: 4, ramMb: 4_096, diskGb: 100 });
  });
  after(() => far.close());

  /** Serves the simulator with another answer. */
  async function ask(readFacts: unknown, options: HostWorldOptions = {}) {
    const driver = new Proxy<ComputeDriver>(far.driver, {
      get: (target, key) => (key === 'readFacts' ? readFacts : (Reflect.get(target, key) as unknown)),
    });
    const world = await hostWorld(driver, options);
    try {
      const facts = await world.driver.readFacts?.();
      return { facts, protocol: await world.driver.protocol?.() };
    } finally {
      await world.close();
    }
  }

  const own = () => far.driver.readFacts();

  it('its version, clock, load, memory, and disk arrive as it measured them', async () => {
    const { facts, protocol } = await ask(own);
    assert.equal(protocol, PROTOCOL_VERSIONS.at(-1));
    const [fact, ...others] = facts ?? [];
    assert.deepEqual(others, []);
    assert.deepEqual([fact?.host, fact?.version], ['far', readVersion()]);
    assert.deepEqual([fact?.cores, fact?.ramMb, fact?.diskFreeGb], [4, 4_096, 100]);
    assert.ok(fact !== undefined && Math.abs(fact.time.getTime() - Date.now()) < 10_000);
  });

  it('an older host reports none, and stays in use', async () => {
    assert.deepEqual(await ask(own, { versions: [1, 2] }), { facts: null, protocol: 2 });
    assert.deepEqual(await ask(undefined), { facts: null, protocol: PROTOCOL_VERSIONS.at(-1) });
  });

  it('an older host has no metrics by the minute, and its machines are observed', async () => {
    const world = await hostWorld(far.driver, { versions: [1, 2, 3, 4] });
    const spec = machineSpec({ id: 'metered', host: 'far' });
    await world.driver.ensure(spec);
    assert.deepEqual(await world.driver.sampleMinutes([spec.id], new Date(0)), []);
    const [state] = await world.driver.observe([spec.id]);
    assert.equal(state?.id, spec.id);
    await world.close();
  });

  it('an older host, which knows no shared disks, gets no server with one', async () => {
    const world = await hostWorld(far.driver, { versions: [1, 2, 3] });
    const spec = machineSpec({ id: 'shared', host: 'far', sharedDisk: true });
    const move = { id: 'move', machineId: spec.id, from: 'near', to: 'far', key: Buffer.alloc(32) };
    const calls = [
      world.driver.ensure(spec),
      world.driver.rebuild({ ...spec, generation: 2 }),
      world.driver.restore({ ...spec, generation: 2 }, 'snapshot'),
      world.driver.moves?.receive(move, { spec, volumes: [] }) ?? assert.fail('no moves'),
    ];
    for (const call of calls) await failsAs('host', call, /update Skerry/);
    await world.close();
  });

  it('an older host, which would install the image, gets no server from a snapshot', async () => {
    const world = await hostWorld(far.driver, { versions: [1, 2, 3, 4] });
    const spec = machineSpec({ id: 'cloned', host: 'far', snapshotId: 'snapshot' });
    await failsAs('host', world.driver.ensure(spec), /update Skerry/);
    assert.ok(!(await far.driver.list()).includes(spec.id));
    await world.close();
  });

  for (const [field, value] of [
    ['version', 'v\u001b[2J'],
    ['version', 'v'.repeat(41)],
    ['ramMb', -1],
    ['load', Number.NaN],
    ['time', new Date(Number.NaN)],
  ] as const satisfies readonly (readonly [keyof HostFacts, unknown])[]) {
    it(`a host that reports ${JSON.stringify(value)} as its ${field} is not believed`, async () => {
      const lie = async () => (await own()).map((fact) => ({ ...fact, [field]: value }));
      await assert.rejects(ask(lie), /gave no valid answer/);
    });
  }

  it('more findings than a host can have are refused', async () => {
    async function* findings(): AsyncIterable<HostFinding> {
      for (let n = 0; n < 600; n++) yield { level: 'ok', subject: 'disk', message: `has room ${n}` };
    }
    const driver = new Proxy<ComputeDriver>(far.driver, {
      get: (target, key) => (key === 'examine' ? findings : (Reflect.get(target, key) as unknown)),
    });
    const world = await hostWorld(driver);
    let count = 0;
    const read = async () => {
      for await (const _ of world.driver.examine({ ramMb: 0, diskGb: 0, unusedAddresses: [] })) count += 1;
    };
    await assert.rejects(read(), /gave no valid answer/);
    assert.equal(count, 500);
    await world.close();
  });
});
