/** The contract of drivers that move machines between hosts. Each such driver's own test file calls it. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { MachineSpec, VolumeSpec } from '../../../src/ports/compute.ts';
import type { MachineMoves, Move, MoveProgress } from '../../../src/ports/moves.ts';
import type { Filter } from '../../../src/ports/network.ts';
import { type ComputeWorld, ContractFixture, failsAs, type TestScope } from './compute-world.ts';

const CLOSED: Filter = { rules: [], defaultIn: 'drop', defaultOut: 'accept' };

/** `onSwitch` is the commit that gives the machine to the target, where a driver asks who has it. */
export function movesContract(
  name: string,
  createWorld: () => Promise<ComputeWorld>,
  onSwitch: (move: Move, volumes: readonly VolumeSpec[]) => Promise<void> = async () => undefined,
): void {
  describe(`${name} keeps the contract of moves`, () => {
    const fixture = new ContractFixture();
    before(() => fixture.open(createWorld));
    after(() => fixture.close());
    moveTests(new MovesFixture(fixture, onSwitch));
  });
}

class MovesFixture {
  readonly fixture: ContractFixture;
  readonly onSwitch: (move: Move, volumes: readonly VolumeSpec[]) => Promise<void>;
  #made = 0;

  constructor(fixture: ContractFixture, onSwitch: MovesFixture['onSwitch']) {
    this.fixture = fixture;
    this.onSwitch = onSwitch;
  }

  get moves(): MachineMoves {
    return this.fixture.driver.moves ?? assert.fail('the driver cannot move machines');
  }

  newMove({ id, host }: Pick<MachineSpec, 'id' | 'host'>): Move {
    const to = this.fixture.world.hosts.find((each) => each !== host) ?? assert.fail('no other host');
    return { id: `move-${this.#made++}`, machineId: id, from: host, to, key: randomBytes(32) };
  }

  /** Receives and sends until the state is final; every call is repeated. */
  async send(move: Move, spec: MachineSpec, volumes: readonly VolumeSpec[] = []): Promise<MoveProgress> {
    const moved = { spec: { ...spec, host: move.to }, volumes };
    let last: MoveProgress | undefined;
    await this.fixture.world.eventually(async () => {
      await this.moves.receive(move, moved);
      const progress = await this.moves.send(move, await this.moves.receive(move, moved));
      if (progress.state === 'copying')
        assert.ok(progress.copiedBytes >= 0 && progress.copiedBytes <= progress.totalBytes);
      last = progress;
      return progress.state !== 'copying';
    });
    return last ?? assert.fail('nothing was sent');
  }

  /** Moves the machine as the service does; every call is repeated. */
  async complete(move: Move, spec: MachineSpec, volumes: readonly VolumeSpec[] = []): Promise<void> {
    assert.equal((await this.send(move, spec, volumes)).state, 'sent');
    await this.onSwitch(move, volumes);
    for (const _ of ['once', 'again']) await this.moves.takeOver(move);
    for (const _ of ['once', 'again']) await this.moves.forget(move, 'from');
  }

  /** Ends the move as the service does. */
  async abandon(move: Move): Promise<void> {
    for (const _ of ['once', 'again']) await this.moves.keep(move);
    for (const _ of ['once', 'again']) await this.moves.forget(move, 'to');
  }

  async attachVolume(t: TestScope, machineId: string): Promise<VolumeSpec> {
    const volume = { id: this.fixture.newVolumeId(t), sizeGb: 1, device: '/dev/vdb' };
    await this.fixture.driver.attach(machineId, volume);
    return volume;
  }
}

function moveTests(on: MovesFixture): void {
  const { fixture } = on;

  it('a running machine runs on the target with its disk, its volumes, and its filter', async (t) => {
    const spec = await fixture.startMachine(t);
    const volume = await on.attachVolume(t, spec.id);
    await fixture.driver.filter(spec.id, CLOSED);
    const move = on.newMove(spec);
    await on.complete(move, spec, [volume]);
    await fixture.waitForState(spec.id, 'running');
    const { host, generation } = await fixture.observe(spec.id);
    assert.deepEqual({ host, generation }, { host: move.to, generation: spec.generation });
    assert.deepEqual(await fixture.world.attached(spec.id), [volume]);
    const packet = { direction: 'in', proto: 'tcp', port: 443, remote: '203.0.113.9' } as const;
    assert.equal(await fixture.world.packetVerdict(spec.id, packet), 'drop');
    assert.deepEqual(
      (await fixture.driver.list()).filter((id) => id === spec.id),
      [spec.id],
    );
  });

  it('a stopped machine is stopped on the target until it is powered on', async (t) => {
    const spec = await fixture.startMachine(t);
    await fixture.driver.power(spec.id, 'off');
    await fixture.waitForState(spec.id, 'stopped');
    const move = on.newMove(spec);
    await on.complete(move, spec);
    const seen = await fixture.observe(spec.id);
    assert.deepEqual([seen.state, seen.host], ['stopped', move.to]);
    await fixture.driver.power(spec.id, 'on');
    await fixture.waitForState(spec.id, 'running');
  });

  it('a machine moves back, and can then be rebuilt', async (t) => {
    const spec = await fixture.startMachine(t);
    const move = on.newMove(spec);
    await on.complete(move, spec);
    const moved = { ...spec, host: move.to };
    await on.complete(on.newMove(moved), moved);
    await fixture.driver.rebuild({ ...spec, generation: 2 });
    await fixture.waitForState(spec.id, 'running');
    const { host, generation } = await fixture.observe(spec.id);
    assert.deepEqual({ host, generation }, { host: spec.host, generation: 2 });
  });

  it('a machine that the source keeps continues there, also after it was sent', async (t) => {
    const spec = await fixture.startMachine(t);
    const moved = { spec: { ...spec, host: on.newMove(spec).to }, volumes: [] };
    const prepared = on.newMove(spec);
    await on.moves.receive(prepared, moved);
    await on.abandon(prepared);
    const started = on.newMove(spec);
    await on.moves.send(started, await on.moves.receive(started, moved));
    await on.abandon(started);
    const sent = on.newMove(spec);
    assert.equal((await on.send(sent, spec)).state, 'sent');
    await on.abandon(sent);
    await fixture.waitForState(spec.id, 'running');
    assert.equal((await fixture.observe(spec.id)).host, spec.host);
    await on.complete(on.newMove(spec), spec);
    await fixture.waitForState(spec.id, 'running');
  });

  it('a target without room refuses a machine, and has room again when copies are gone', async (t) => {
    const spec = await fixture.startMachine(t);
    const move = on.newMove(spec);
    const others: Move[] = [];
    // The contract's hosts have room for four machines.
    for (let n = 0; n < 4; n++) {
      const other = fixture.spec({ id: fixture.newMachineId(t), host: spec.host });
      const arriving = on.newMove(other);
      await on.moves.receive(arriving, { spec: { ...other, host: move.to }, volumes: [] });
      others.push(arriving);
    }
    await failsAs('host', on.moves.receive(move, { spec: { ...spec, host: move.to }, volumes: [] }));
    for (const other of others) await on.moves.forget(other, 'to');
    await on.complete(move, spec);
  });

  it('a source without the key of the move sends nothing', async (t) => {
    const spec = await fixture.startMachine(t);
    const move = on.newMove(spec);
    const endpoint = await on.moves.receive(move, { spec: { ...spec, host: move.to }, volumes: [] });
    const stranger = { ...move, key: randomBytes(32) };
    let state: MoveProgress['state'] | undefined;
    await fixture.world.eventually(async () => {
      ({ state } = await on.moves.send(stranger, endpoint));
      return state !== 'copying';
    });
    assert.equal(state, 'failed');
    await on.abandon(move);
    await fixture.waitForState(spec.id, 'running');
  });

  it('a move that was never started can be ended', async (t) => {
    const spec = await fixture.startMachine(t);
    await on.abandon(on.newMove(spec));
    await fixture.waitForState(spec.id, 'running');
  });
}
