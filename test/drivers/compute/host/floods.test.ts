import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { ComputeDriver } from '../../../../src/ports/compute.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';
import { hostWorld } from './host-world.ts';

describe('floods on a host on another machine', () => {
  let far: SimulatedWorld;
  const spec = machineSpec({ id: 'flooded', host: 'far' });
  const blackholed = { bitsPerS: null, mail: true, blackholed: [4] } as const;
  before(async () => {
    far = await simulatedWorld();
    await far.control.addHost({ name: 'far', cpu: 4, ramMb: 4_096, diskGb: 100 });
    await far.driver.ensure(spec);
  });
  after(() => far.close());

  it('its packets are counted, and its addresses blackholed and lifted', async () => {
    await using world = await opened();
    await far.control.flood(spec.id, { direction: 'in', family: 4, packetsPerS: 123_456 });
    const [sample, ...more] = await world.driver.samplePackets([spec.id, 'unknown']);
    assert.deepEqual([sample?.id, sample?.in.packetsPerS, more.length], [spec.id, 123_456, 0]);
    await world.driver.traffic(spec.id, blackholed);
    assert.deepEqual(await far.control.readBlackholed(spec.id), [4]);
    const [dropped] = await world.driver.samplePackets([spec.id]);
    assert.ok(dropped && dropped.in.packetsPerS < 100);
    await world.driver.traffic(spec.id, { bitsPerS: null, mail: true, blackholed: [] });
    assert.deepEqual(await far.control.readBlackholed(spec.id), []);
  });

  it('an older host counts nothing, gets its other limits, and says that it cannot blackhole', async () => {
    const limits: unknown[] = [];
    const driver = new Proxy<ComputeDriver>(far.driver, {
      get: (target, key) =>
        key === 'traffic'
          ? async (_id: string, traffic: unknown) => void limits.push(traffic)
          : (Reflect.get(target, key) as unknown),
    });
    await using world = await opened({ driver, versions: [1, 2, 3, 4, 5, 6] });
    assert.deepEqual(await world.driver.samplePackets([spec.id]), []);
    await failsAs('refused', world.driver.traffic(spec.id, blackholed), /update Skerry/);
    await world.driver.traffic(spec.id, { bitsPerS: 1_000, mail: false, blackholed: [] });
    assert.equal(limits.length, 2);
  });

  it('a host that reports a negative rate is not believed', async () => {
    const rate = { packetsPerS: -1, bitsPerS: 0, ipv6PacketsPerS: 0 };
    const lie = async () => [{ id: spec.id, in: rate, out: rate }];
    const driver = new Proxy<ComputeDriver>(far.driver, {
      get: (target, key) => (key === 'samplePackets' ? lie : (Reflect.get(target, key) as unknown)),
    });
    await using world = await opened({ driver });
    await assert.rejects(world.driver.samplePackets([spec.id]), /gave no valid answer/);
  });

  async function opened({
    driver = far.driver,
    versions,
  }: {
    readonly driver?: ComputeDriver;
    readonly versions?: readonly number[];
  } = {}) {
    const world = await hostWorld(driver, versions ? { versions } : {});
    return { driver: world.driver, [Symbol.asyncDispose]: () => world.close() };
  }
});
