/** The compute contract for a machine's surroundings: its packet filter, its console, its load. */
import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { it } from 'node:test';
import type { Filter, FilterRule } from '../../../src/ports/network.ts';
import { type ContractFixture, failsAs } from './compute-world.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

function rule(wanted: Partial<FilterRule>): FilterRule {
  return { direction: 'in', proto: 'any', ports: [], remote: '0.0.0.0/0', action: 'accept', ...wanted };
}

const FILTER: Filter = {
  rules: [
    rule({ proto: 'tcp', ports: [[22, 22]], remote: '198.51.100.0/24', action: 'accept' }),
    rule({ proto: 'tcp', ports: [[22, 22]], action: 'reject' }),
    rule({
      proto: 'tcp',
      ports: [
        [80, 80],
        [8000, 8100],
      ],
    }),
  ],
  defaultIn: 'drop',
  defaultOut: 'accept',
};

export function outsideContract(fixture: ContractFixture): void {
  it('the latest filter replaces earlier ones, survives a rebuild, and can be removed', async (t) => {
    const spec = await fixture.startMachine(t);
    const verdict = (remote: string, port: number) =>
      fixture.world.packetVerdict(spec.id, { direction: 'in', proto: 'tcp', port, remote });
    assert.equal(await verdict('203.0.113.9', 443), 'accept');
    for (const _ of ['once', 'again']) await fixture.driver.filter(spec.id, FILTER);
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    await fixture.waitForState(spec.id, 'running');
    assert.equal(await verdict('198.51.100.7', 22), 'accept');
    assert.equal(await verdict('203.0.113.9', 22), 'reject');
    assert.equal(await verdict('203.0.113.9', 8050), 'accept');
    assert.equal(await verdict('203.0.113.9', 443), 'drop');
    assert.equal(await verdict('2001:db8::9', 80), 'drop');
    await fixture.driver.filter(spec.id, { ...FILTER, rules: [] });
    assert.equal(await verdict('198.51.100.7', 22), 'drop');
    for (const _ of ['once', 'again']) await fixture.driver.filter(spec.id, null);
    assert.equal(await verdict('203.0.113.9', 443), 'accept');
  });

  it('a new machine has the filter of its spec, and keeps its own when it is ensured again', async (t) => {
    const spec = await fixture.startMachine(t, { filter: FILTER });
    const verdict = (port: number) =>
      fixture.world.packetVerdict(spec.id, { direction: 'in', proto: 'tcp', port, remote: '203.0.113.9' });
    assert.deepEqual([await verdict(80), await verdict(443)], ['accept', 'drop']);
    await fixture.driver.filter(spec.id, null);
    await fixture.driver.ensure({ ...spec, filter: FILTER });
    assert.equal(await verdict(443), 'accept');
  });

  it('an absent machine has no filter', async () => {
    await fixture.driver.filter('never-made', null);
    await failsAs('refused', fixture.driver.filter('never-made', FILTER));
  });

  it('a running machine has a console that speaks RFB 3.7 or later without security', async (t) => {
    const { id } = await fixture.startMachine(t);
    const screens = [await fixture.driver.console(id), await fixture.driver.console(id)];
    for (const screen of screens) {
      const version = await firstBytes(screen, 12);
      assert.match(version, /^RFB 003\.00[78]\n$/);
      screen.write(version, 'latin1');
      assert.equal(await firstBytes(screen, 2), '\x01\x01', 'only security type None');
      screen.destroy();
    }
    await fixture.driver.power(id, 'off');
    await fixture.waitForState(id, 'stopped');
    await failsAs('refused', fixture.driver.console(id));
    await failsAs('refused', fixture.driver.console('never-made'));
  });

  it('a running machine has a sample of each hour, including the current one', async (t) => {
    const { id, ramMb } = await fixture.startMachine(t);
    const thisHour = Math.floor(fixture.world.now().getTime() / HOUR_MS) * HOUR_MS;
    const samples = await fixture.driver.sample([id, 'never-made'], new Date(thisHour - HOUR_MS));
    assert.deepEqual(samples.at(-1)?.hour, new Date(thisHour));
    for (const { id: of, cpuPct, ramMb: used, ...flows } of samples) {
      assert.equal(of, id);
      assert.ok(cpuPct >= 0 && cpuPct <= 100 && used >= 0 && used <= ramMb, `${cpuPct} % and ${used} MiB`);
      const { hour, ...rates } = flows;
      assert.equal(hour.getTime() % HOUR_MS, 0);
      assert.ok(Object.values(rates).every((rate) => rate >= 0));
    }
    assert.deepEqual(await fixture.driver.sample(['never-made'], new Date(0)), []);
    assert.deepEqual(await fixture.driver.sample([], new Date(0)), []);
  });

  it('the samples of minutes are about minutes that have ended', async (t) => {
    const { id, ramMb } = await fixture.startMachine(t);
    const now = fixture.world.now().getTime();
    for (const sample of await fixture.driver.sampleMinutes([id, 'never-made'], new Date(now - HOUR_MS))) {
      assert.ok(sample.id === id && sample.cpuPct <= 100 && sample.ramMb <= ramMb);
      assert.equal(sample.minute.getTime() % MINUTE_MS, 0);
      assert.ok(sample.minute.getTime() + MINUTE_MS <= fixture.world.now().getTime());
    }
    assert.deepEqual(await fixture.driver.sampleMinutes(['never-made'], new Date(0)), []);
    assert.deepEqual(await fixture.driver.sampleMinutes([], new Date(0)), []);
  });
}

async function firstBytes(stream: Duplex, count: number): Promise<string> {
  let read = Buffer.alloc(0);
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    read = Buffer.concat([read, chunk as Buffer]);
    if (read.length >= count) break;
  }
  return read.subarray(0, count).toString('latin1');
}
