import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import type { MachineSpec } from '../../../../src/ports/compute.ts';
import { seededRuns } from '../../../support/seed.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type ComposedWorld, composedWorld, type Member, type Outage } from './composed-world.ts';

/** Far below the patience with a backend that does not answer. */
const PROMPT_MS = 700;

describe('the composed driver', () => {
  let world: ComposedWorld;
  let members: readonly [Member, Member, Member];
  let created = 0;
  before(async () => {
    world = await composedWorld(['a', 'b', 'c']);
    const [a, b, c] = world.members;
    members = [a ?? assert.fail(), b ?? assert.fail(), c ?? assert.fail()];
    for (const member of members) await world.addHost(member, `host-${member.name}`);
    await world.addHost(null, 'here');
  });
  after(() => world.close());

  const newId = () => `machine-${created++}`;
  async function start(host: string, wanted: Partial<MachineSpec> = {}): Promise<MachineSpec> {
    const spec = machineSpec({ id: newId(), host, ...wanted });
    await world.driver.ensure(spec);
    await world.eventually(async () => (await observe(spec.id)).state === 'running');
    return spec;
  }
  async function observe(id: string) {
    return (await world.driver.observe([id]))[0] ?? assert.fail('nothing was observed');
  }
  const place = async (id: string) => (await world.directory.find('machine', [id])).get(id);
  async function cutOff<T>(member: Member, outage: Outage, work: () => Promise<T>): Promise<T> {
    member.outage = outage;
    try {
      return await work();
    } finally {
      member.outage = null;
      await world.eventually(async () => {
        await world.driver.list();
        const before = member.lists;
        await world.driver.list();
        return member.lists > before;
      });
    }
  }

  it('a backend that does not answer delays the others once, and its machines are unknown', async () => {
    const [a, , c] = members;
    const here = await start('here');
    const [there, far] = [await start(`host-${a.name}`), await start(`host-${c.name}`)];
    await cutOff(c, 'hangs', async () => {
      const ids = [here.id, there.id, far.id];
      assert.deepEqual(
        (await world.driver.observe(ids)).map(({ state }) => state),
        ['running', 'running', 'unknown'],
      );
      const startedAt = performance.now();
      for (let round = 0; round < 5; round++) await world.driver.observe(ids);
      assert.ok(performance.now() - startedAt < PROMPT_MS);
      assert.deepEqual((await world.driver.sample([far.id], new Date(0))).length, 0);
    });
    assert.equal((await observe(far.id)).state, 'running');
  });

  it('the machines of a backend that is away stay listed', async () => {
    const [, b] = members;
    const spec = await start(`host-${b.name}`);
    assert.ok((await world.driver.list()).includes(spec.id));
    await cutOff(b, 'refuses', async () => {
      for (const _ of ['once', 'again']) assert.ok((await world.driver.list()).includes(spec.id));
    });
  });

  it('a host whose backend is away is left at once if nothing can exist there', async () => {
    const [, b] = members;
    const spec = machineSpec({ id: newId(), host: `host-${b.name}` });
    await cutOff(b, 'refuses', async () => {
      await world.driver.list();
      await failsAs('host', world.driver.ensure(spec));
      await world.driver.remove(spec.id);
      await world.driver.ensure({ ...spec, host: 'here' });
    });
    assert.equal(await place(spec.id), 'local');
  });

  it('a machine on a backend that is away is neither moved nor removed', async () => {
    const [, b] = members;
    const spec = await start(`host-${b.name}`);
    await cutOff(b, 'refuses', async () => {
      await failsAs('transient', world.driver.remove(spec.id));
      await failsAs('refused', world.driver.ensure({ ...spec, host: 'here' }));
    });
    assert.equal((await observe(spec.id)).state, 'running');
    await world.driver.remove(spec.id);
    assert.equal(await place(spec.id), undefined);
  });

  it('a machine that is older than the first backend is found on this machine', async () => {
    const spec = machineSpec({ id: newId(), host: 'here' });
    await world.local.driver.ensure(spec);
    assert.notEqual((await observe(spec.id)).state, 'absent');
    await failsAs('refused', world.driver.ensure({ ...spec, host: 'host-a' }));
    await world.driver.remove(spec.id);
    assert.equal((await observe(spec.id)).state, 'absent');
  });

  it('volumes and snapshots stay on the backend that has them', async () => {
    const [one, two] = [await start('host-a'), await start('host-b')];
    const volume = { id: 'volume-1', sizeGb: 1, device: '/dev/vdb' };
    await world.driver.attach(one.id, volume);
    await world.driver.detach(volume.id);
    await failsAs('refused', world.driver.attach(two.id, volume));
    await world.eventually(async () => (await world.driver.snapshot(one.id, 'snapshot-1')).state === 'ready');
    await failsAs('refused', world.driver.restore({ ...two, generation: 2 }, 'snapshot-1'));
    await world.driver.removeVolume(volume.id);
    await world.driver.attach(two.id, volume);
  });

  it('a shared volume follows its machines, and is only taken from a backend that is away', async () => {
    const [a, b, c] = members;
    const [one, two] = [await start(`host-${a.name}`), await start(`host-${b.name}`)];
    const volume = { id: 'shared', sizeGb: 1, device: '/dev/vdb', shared: true as const };
    const at = async () => (await world.directory.find('volume', [volume.id])).get(volume.id);
    const attached = async (member: Member, { id }: MachineSpec) =>
      (await member.world.db.rows('select from sim.attachments where machine_id = $1', [id])).length;
    await world.driver.attach(one.id, volume);
    await world.driver.attach(two.id, volume);
    assert.deepEqual([await at(), await attached(a, one), await attached(b, two)], [b.name, 0, 1]);
    const three = await start(`host-${c.name}`);
    const seized: string[] = [];
    const seizeVolume = async (id: string) => void seized.push(id);
    Object.assign(c.world.driver, { seizeVolume });
    await cutOff(b, 'refuses', async () => {
      await failsAs('transient', world.driver.attach(three.id, volume));
      assert.deepEqual([await at(), await attached(c, three)], [b.name, 0]);
      await assert.rejects(async () => world.driver.seizeVolume?.(volume.id, `host-${a.name}`), /no shared/);
      await world.driver.seizeVolume?.(volume.id, `host-${c.name}`);
      await world.driver.attach(three.id, volume);
      assert.deepEqual([await at(), await attached(c, three), seized], [c.name, 1, [volume.id]]);
    });
    Object.assign(c.world.driver, { seizeVolume: null });
    await world.driver.removeVolume(volume.id);
    assert.equal(await at(), undefined);
  });

  it('a shared disk is taken from a backend that is away, and its machine runs on another one', async () => {
    const [a, b, c] = members;
    const spec = { ...(await start(`host-${b.name}`)), host: `host-${c.name}`, generation: 2 };
    const calls: string[] = [];
    const { seizeDisk, revive } = c.world.driver;
    Object.assign(a.world.driver, { seizeDisk: null, revive: null });
    Object.assign(c.world.driver, {
      seizeDisk: async (id: string) => void calls.push(`seize ${id}`),
      revive: async ({ id }: MachineSpec) => void calls.push(`revive ${id}`),
    });
    await cutOff(b, 'refuses', async () => {
      await failsAs('refused', world.driver.revive?.(spec) ?? assert.fail());
      await assert.rejects(async () => world.driver.seizeDisk?.(spec.id, `host-${a.name}`), /no shared/);
      assert.equal(await place(spec.id), b.name);
      await world.driver.seizeDisk?.(spec.id, spec.host);
      assert.equal(await place(spec.id), c.name);
      await world.driver.revive?.(spec);
      assert.deepEqual(calls, [`seize ${spec.id}`, `revive ${spec.id}`]);
    });
    Object.assign(a.world.driver, { seizeDisk, revive });
    Object.assign(c.world.driver, { seizeDisk, revive });
    await world.driver.remove(spec.id);
    await b.world.driver.remove(spec.id);
  });

  it('a backend cannot speak for machines of another one', async () => {
    const [a, b] = members;
    const spec = await start('host-a');
    // The other backend has a machine of the same name, as if it lied.
    await b.world.driver.ensure(machineSpec({ id: spec.id, host: 'host-b' }));
    await b.world.driver.power(spec.id, 'off');
    assert.deepEqual([(await observe(spec.id)).state, (await observe(spec.id)).host], ['running', 'host-a']);
    const listed = await world.driver.list();
    assert.equal(listed.filter((id) => id === spec.id).length, 1);
    assert.equal(await place(spec.id), a.name);
    await b.world.driver.remove(spec.id);
  });

  it('calls for one machine leave in the order they arrived', async () => {
    for (let round = 0; round < 20; round++) {
      const spec = machineSpec({ id: newId(), host: 'host-a' });
      const calls = [
        world.driver.ensure(spec),
        world.driver.power(spec.id, 'off'),
        world.driver.remove(spec.id),
      ];
      await Promise.allSettled(calls);
      assert.equal((await observe(spec.id)).state, 'absent');
    }
  });

  it('with one backend cut off at random, the others answer and nothing is concluded about it', async (t) => {
    const hosts = ['here', ...members.map(({ name }) => `host-${name}`)];
    const step = fc.record({
      host: fc.constantFrom(...hosts),
      cut: fc.integer({ min: 0, max: members.length - 1 }),
      outage: fc.constantFrom<Outage>('refuses', 'hangs'),
      power: fc.constantFrom('off', 'reset', 'acpi'),
    } as const);
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 3 }), async (steps) => {
      for (const { host, cut, outage, power } of steps) {
        const member = members[cut] ?? assert.fail();
        const spec = await start(host);
        const isCut = host === `host-${member.name}`;
        await cutOff(member, outage, async () => {
          if (!isCut) await world.driver.power(spec.id, power);
          else if (outage === 'refuses') await failsAs('transient', world.driver.power(spec.id, power));
          assert.equal((await observe(spec.id)).state === 'unknown', isCut);
        });
        const { state } = await observe(spec.id);
        assert.equal(state, isCut || power !== 'off' ? 'running' : 'stopped');
        await world.driver.remove(spec.id);
      }
    });
    await fc.assert(property, seededRuns(t, 3));
  });
});
