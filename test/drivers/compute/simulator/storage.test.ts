/** Tests that only a simulator allows: volumes, snapshots, and filters. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { INJECTABLE_FAULTS } from '../../../../src/drivers/faults.ts';
import type { ComputeDriver, MachineSpec } from '../../../../src/ports/compute.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from './simulator-world.ts';

const FILTER = {
  rules: [
    {
      direction: 'in' as const,
      proto: 'tcp' as const,
      ports: [[22, 22] as const],
      remote: '::/0',
      action: 'accept' as const,
    },
  ],
  defaultIn: 'drop' as const,
  defaultOut: 'accept' as const,
};

/**
 * A call of each verb on a running machine. A new verb of the port does not compile until it is listed here.
 */
function calls(
  driver: ComputeDriver,
  spec: MachineSpec,
): Record<
  Exclude<
    keyof ComputeDriver,
    | 'name'
    | 'capabilities'
    | 'hosts'
    | 'images'
    | 'files'
    | 'sendFile'
    | 'passFile'
    | 'moves'
    | 'copies'
    | 'seizeVolume'
  >,
  () => Promise<unknown>
> {
  const { id } = spec;
  return {
    ensure: () => driver.ensure(spec),
    remove: () => driver.remove(id),
    power: () => driver.power(id, 'off'),
    observe: () => driver.observe([id]),
    rebuild: () => driver.rebuild({ ...spec, generation: 2 }),
    restore: () => driver.restore({ ...spec, generation: 2 }, `kept of ${id}`),
    resize: () => driver.resize(id, spec),
    setIso: () => driver.setIso(id, { iso: null, boot: 'disk' }),
    rescue: () => driver.rescue(id, { passwordHash: 'x' }),
    console: () => driver.console(id),
    sample: () => driver.sample([id], new Date(0)),
    sampleMinutes: () => driver.sampleMinutes([id], new Date(0)),
    samplePackets: () => driver.samplePackets([id]),
    seizeDisk: async () => driver.seizeDisk?.(id, spec.host),
    revive: async () => driver.revive?.({ ...spec, generation: 2 }),
    attach: () => driver.attach(id, { id: `other of ${id}`, sizeGb: 1, device: '/dev/vdc' }),
    detach: () => driver.detach(`volume of ${id}`),
    grow: () => driver.grow(`volume of ${id}`, 9),
    removeVolume: () => driver.removeVolume(`volume of ${id}`),
    snapshot: () => driver.snapshot(id, `new of ${id}`),
    removeSnapshot: () => driver.removeSnapshot(`kept of ${id}`),
    filter: () => driver.filter(id, FILTER),
    traffic: () => driver.traffic(id, { bitsPerS: null, mail: false }),
    list: () => driver.list(),
    superviseMachines: () => driver.superviseMachines(),
    readFacts: async () => driver.readFacts?.(),
    examine: () =>
      driver.examine({ ramMb: 0, diskGb: 0, unusedAddresses: [] })[Symbol.asyncIterator]().next(),
  };
}

describe('the simulated storage', () => {
  let world: SimulatedWorld;
  let made = 0;
  before(async () => {
    world = await simulatedWorld();
  });
  after(() => world.close());

  /** Starts a machine with a volume and a snapshot, alone on its host. */
  async function running(): Promise<MachineSpec> {
    const [id, host] = [`machine-${made}`, `host-${made++}`];
    await world.control.addHost({ name: host, cpu: 1, ramMb: 512, diskGb: 40 });
    const spec = machineSpec({ id, host, diskGb: 40 });
    await world.driver.ensure(spec);
    await world.waitForState(id, 'running');
    await world.driver.attach(id, { id: `volume of ${id}`, sizeGb: 1, device: '/dev/vdb' });
    const kept = `kept of ${id}`;
    await world.eventually(async () => (await world.driver.snapshot(id, kept)).state === 'ready');
    return spec;
  }
  /** Returns the state of the whole simulated world. */
  async function contents(): Promise<unknown> {
    const { control } = world;
    const machines = await control.machines();
    const filters = await Promise.all(machines.map(({ id }) => control.readFilter(id)));
    return [machines, filters, await control.volumes(), await control.snapshots()];
  }

  it('every verb fails if a fault is armed, and changes nothing', async () => {
    const spec = await running();
    const before = await contents();
    const verbs = calls(world.driver, spec);
    const names = (INJECTABLE_FAULTS.compute ?? []).filter((name) => !/^(?:moves|copies)\./.test(name));
    assert.deepEqual(Object.keys(verbs).sort(), [...names].sort());
    for (const [operation, call] of Object.entries(verbs)) {
      if (operation === 'snapshot') continue;
      await world.faults.set({ driver: 'compute', operation, times: 1 });
      await failsAs(['ensure', 'resize', 'setIso'].includes(operation) ? 'host' : 'transient', call());
      assert.deepEqual(await contents(), before, operation);
    }
  });

  it('every call of a copy fails if a fault is armed, and changes nothing', async () => {
    const { id, host } = await running();
    const { copies } = world.driver;
    const before = await contents();
    const snapshot = { host, machineId: id, generation: 1, diskGb: 1, sizeGb: 1 };
    const copy = { sizeBytes: 1, sha256: '', url: 'http://127.0.0.1:9/' };
    const calls: Record<keyof typeof copies & string, () => Promise<unknown>> = {
      prepareCopy: () => copies.prepareCopy(id),
      sendCopy: () => copies.sendCopy(id, []),
      forgetCopy: () => copies.forgetCopy(id),
      fetchCopy: () => copies.fetchCopy(id, snapshot, copy),
    };
    for (const [operation, call] of Object.entries(calls)) {
      await world.faults.set({ driver: 'compute', operation: `copies.${operation}`, times: 1 });
      await failsAs('transient', call());
      assert.deepEqual(await contents(), before, operation);
    }
  });

  it('every call of a move fails if a fault is armed, and changes nothing', async () => {
    const spec = await running();
    const { moves } = world.driver;
    const move = { id: `move of ${spec.id}`, machineId: spec.id, from: spec.host, to: 'spare' };
    const transfer = { ...move, key: new Uint8Array(32) };
    await world.control.addHost({ name: 'spare', cpu: 1, ramMb: 512, diskGb: 40 });
    const moved = { spec: { ...spec, host: 'spare' }, volumes: [] };
    const arm = (call: string) =>
      world.faults.set({ driver: 'compute', operation: `moves.${call}`, times: 1 });
    await arm('receive');
    await failsAs('host', moves.receive(transfer, moved));
    const endpoint = await moves.receive(transfer, moved);
    const before = [await contents(), await world.control.moves()];
    await arm('send');
    assert.equal((await moves.send(transfer, endpoint)).state, 'failed');
    const calls = {
      takeOver: () => moves.takeOver(transfer),
      keep: () => moves.keep(transfer),
      forget: () => moves.forget(transfer, 'to'),
    };
    for (const [name, call] of Object.entries(calls)) {
      await arm(name);
      await failsAs('transient', call());
    }
    assert.deepEqual([await contents(), await world.control.moves()], before);
  });

  it('a volume under way is not changed, and a fault of its target changes nothing', async () => {
    const { id, host } = await running();
    const { moves } = world.driver;
    await world.control.addHost({ name: 'other', cpu: 1, ramMb: 512, diskGb: 40 });
    const disk = { kind: 'volume', id: `volume of ${id}` } as const;
    const move = { id: `disk of ${id}`, disk, from: host, to: 'other', key: new Uint8Array(32) };
    const moved = { sizeGb: 1, snapshot: null };
    await world.faults.set({ driver: 'compute', operation: 'moves.receiveDisk', times: 1 });
    await failsAs('host', moves.receiveDisk(move, moved));
    assert.deepEqual(await world.control.diskMoves(), []);
    const endpoint = await moves.receiveDisk(move, moved);
    await failsAs('refused', moves.send(move, endpoint), /attached/);
    await world.driver.detach(disk.id);
    await moves.send(move, endpoint);
    await failsAs('transient', world.driver.attach(id, { id: disk.id, sizeGb: 1, device: '/dev/vdb' }));
    await failsAs('transient', world.driver.grow(disk.id, 2));
    await failsAs('transient', world.driver.removeVolume(disk.id));
    await failsAs('refused', moves.forget({ ...move, key: new Uint8Array(32) }, 'from'));
    await moves.keep(move);
    await world.driver.grow(disk.id, 2);
  });

  it('a fault of a snapshot fails the snapshot permanently instead of the call', async () => {
    const { id } = await running();
    await world.faults.set({ driver: 'compute', operation: 'snapshot', times: 1 });
    await failsAs('refused', world.driver.snapshot('never-made', 'x'));
    assert.equal((await world.driver.snapshot(id, `kept of ${id}`)).state, 'ready');
    const failed = { state: 'failed', sizeGb: 0 };
    assert.deepEqual(await world.driver.snapshot(id, 'broken'), failed);
    world.clock.advanceS(60);
    assert.deepEqual(await world.driver.snapshot(id, 'broken'), failed);
    assert.equal((await world.driver.snapshot(id, 'whole')).state, 'creating');
  });

  it('a host that is down rejects every action, and nothing is lost', async () => {
    const spec = await running();
    const before = await contents();
    await world.control.setHostDown(spec.host, true);
    const ofHosts = ['list', 'superviseMachines', 'readFacts', 'examine'];
    const answers = [
      'ensure',
      'seizeDisk',
      'observe',
      'sample',
      'sampleMinutes',
      'samplePackets',
      'removeSnapshot',
      ...ofHosts,
    ];
    for (const [verb, call] of Object.entries(calls(world.driver, spec))) {
      if (!answers.includes(verb)) await failsAs('transient', call());
    }
    await failsAs('transient', world.driver.snapshot(spec.id, `kept of ${spec.id}`));
    assert.deepEqual(await world.driver.sample([spec.id], new Date(0)), []);
    const other = await running();
    const moved = { id: `volume of ${spec.id}`, sizeGb: 1, device: '/dev/vdz' };
    await failsAs('transient', world.driver.attach(other.id, moved));
    await world.driver.remove(other.id);
    await world.driver.removeVolume(`volume of ${other.id}`);
    await world.driver.removeSnapshot(`kept of ${other.id}`);
    await world.control.setHostDown(spec.host, false);
    assert.deepEqual(await contents(), before);
  });

  it('a snapshot takes two seconds; the first is large, and later ones are small', async () => {
    const { id, diskGb } = await running();
    await world.driver.snapshot(id, `second of ${id}`);
    world.clock.advanceS(1.999);
    assert.deepEqual(await world.driver.snapshot(id, `second of ${id}`), { state: 'creating', sizeGb: 0 });
    assert.deepEqual(await world.control.nextDue(), new Date(world.clock.now().getTime() + 1));
    world.clock.advanceS(0.001);
    const first = await world.driver.snapshot(id, `kept of ${id}`);
    const second = await world.newDriver().snapshot(id, `second of ${id}`);
    assert.equal(second.state, 'ready');
    assert.ok(second.sizeGb > 0 && second.sizeGb < first.sizeGb && first.sizeGb < diskGb);
  });

  it('a volume of a lost machine is detached, and its snapshots remain', async () => {
    const { id, host } = await running();
    await world.control.loseMachine(id);
    const volume = (await world.control.volumes()).find((each) => each.id === `volume of ${id}`);
    assert.deepEqual(volume, { id: `volume of ${id}`, sizeGb: 1, host, machineId: null, device: null });
    const kept = (await world.control.snapshots()).find((each) => each.machineId === id);
    assert.equal(kept?.state, 'ready');
    assert.deepEqual(await world.driver.snapshot(id, `kept of ${id}`), {
      state: 'ready',
      sizeGb: kept?.sizeGb,
    });
  });

  it('a filter is stored unchanged', async () => {
    const { id } = await running();
    assert.equal(await world.control.readFilter(id), null);
    await world.driver.filter(id, FILTER);
    assert.deepEqual(await world.control.readFilter(id), FILTER);
    await world.driver.filter(id, null);
    assert.equal(await world.control.readFilter(id), null);
    await assert.rejects(world.control.readFilter('never-made'), /no machine/);
  });

  it('twenty concurrent attachments of one volume leave it on one machine', async () => {
    const [one, two] = [await running(), await running()];
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        world.newDriver().attach((n % 2 ? one : two).id, { id: 'wanted', sizeGb: 1, device: '/dev/vdc' }),
      ),
    );
    const wanted = (await world.control.volumes()).filter((volume) => volume.id === 'wanted');
    assert.equal(wanted.length, 1);
    assert.ok([one.id, two.id].includes(wanted[0]?.machineId ?? ''));
  });
});
