/** The load that simulated machines report. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HourSample } from '../../../../src/ports/compute.ts';
import { machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

describe('the simulated load', () => {
  let world: SimulatedWorld;
  let made = 0;
  before(async () => {
    world = await simulatedWorld();
    await world.control.addHost({ name: 'one', cpu: 64, ramMb: 65_536, diskGb: 1_024 });
  });
  after(() => world.close());

  async function running(): Promise<string> {
    const id = `machine-${made++}`;
    await world.driver.ensure(machineSpec({ id, host: 'one', cpu: 2, ramMb: 2_048 }));
    await world.waitForState(id, 'running');
    return id;
  }
  async function samples(id: string, since = new Date(0)): Promise<HourSample[]> {
    return await world.driver.sample([id], since);
  }
  const hoursOf = (all: readonly HourSample[]) => all.map(({ hour }) => hour.toISOString().slice(5, 13));

  it('samples cover exactly the hours in which the machine was on', async () => {
    world.clock.moveTo(new Date('2030-03-01T08:50:00Z'));
    const id = await running();
    world.clock.moveTo(new Date('2030-03-01T10:10:00Z'));
    assert.deepEqual(hoursOf(await samples(id)), ['03-01T08', '03-01T09', '03-01T10']);
    await world.driver.power(id, 'off');
    world.clock.moveTo(new Date('2030-03-01T13:30:00Z'));
    await world.driver.power(id, 'on');
    assert.deepEqual(hoursOf(await samples(id)), ['03-01T08', '03-01T09', '03-01T10', '03-01T13']);
    await world.driver.power(id, 'reset');
    world.clock.moveTo(new Date('2030-03-01T15:00:00Z'));
    await world.driver.power(id, 'off');
    world.clock.moveTo(new Date('2030-03-01T18:00:00Z'));
    await world.driver.rescue(id, { passwordHash: 'x' });
    const since = new Date('2030-03-01T13:59:59Z');
    assert.deepEqual(hoursOf(await samples(id, since)), ['03-01T13', '03-01T14', '03-01T18']);
  });

  it('minutes are those that ended and in which the machine was on throughout', async () => {
    world.clock.moveTo(new Date('2030-03-02T08:50:30Z'));
    const id = await running();
    world.clock.moveTo(new Date('2030-03-02T08:54:10Z'));
    const minutes = async (since = '2030-03-02T00:00:00Z') =>
      (await world.driver.sampleMinutes([id], new Date(since))).map(({ minute }) =>
        minute.toISOString().slice(11, 16),
      );
    assert.deepEqual(await minutes(), ['08:51', '08:52', '08:53']);
    await world.driver.power(id, 'off');
    world.clock.moveTo(new Date('2030-03-02T08:57:20Z'));
    await world.driver.power(id, 'on');
    world.clock.moveTo(new Date('2030-03-02T09:00:00Z'));
    assert.deepEqual(await minutes('2030-03-02T08:52:30Z'), ['08:53', '08:58', '08:59']);
    const [sample, ...others] = await world.newDriver().sampleMinutes([id], new Date('2030-03-02T08:59:00Z'));
    assert.deepEqual(others, []);
    const values = Object.values(sample ?? {}).filter((value) => typeof value === 'number');
    assert.ok(values.length === 6 && values.every((value) => value >= 0));
  });

  it('the load is deterministic per machine and differs between machines', async () => {
    const [id, other] = [await running(), await running()];
    world.clock.advanceS(5 * HOUR_S);
    const first = await samples(id);
    world.clock.advanceS(HOUR_S);
    const later = await world.newDriver().sample([other, id], new Date(0));
    assert.deepEqual(later.filter((each) => each.id === id).slice(0, first.length), first);
    const [mine, its] = [id, other].map((of) => later.filter((each) => each.id === of).map((s) => s.cpuPct));
    assert.notDeepEqual(mine, its);
  });

  it('samples go back 31 days, stay within the machine’s size, and are higher by day', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, running));
    world.clock.advanceS(40 * DAY_S);
    const all = await world.driver.sample(ids, new Date(0));
    assert.equal(all.length, ids.length * (31 * 24 + 1));
    for (const { cpuPct, ramMb, diskReadBps, diskWriteBps, netInBps, netOutBps } of all) {
      assert.ok(cpuPct > 0 && cpuPct <= 100 && ramMb > 0 && ramMb <= 2_048);
      const flows = [diskReadBps, diskWriteBps, netInBps, netOutBps];
      assert.ok(flows.every((flow) => Number.isSafeInteger(flow) && flow >= 0 && flow < 125_000_000));
    }
    for (const id of ids) {
      const out = all.reduce((sum, each) => sum + (each.id === id ? each.netOutBps : 0), 0) * HOUR_S;
      assert.ok(out > 0 && out < 2 * 1024 ** 4, `${out} bytes a month`);
    }
    const mean = (hourOfDay: number) => {
      const then = all.filter(({ hour }) => hour.getUTCHours() === hourOfDay);
      return then.reduce((sum, { cpuPct }) => sum + cpuPct, 0) / then.length;
    };
    assert.ok(mean(15) > 1.5 * mean(3), `${mean(15)} % by day, ${mean(3)} % by night`);
  });
});
