import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { composeMoves } from '../../../../src/drivers/compute/composed/moves.ts';
import { BackendRegistry } from '../../../../src/drivers/compute/composed/registry.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import type { Backend } from '../../../../src/ports/backends.ts';
import { type ComputeDriver, ComputeError } from '../../../../src/ports/compute.ts';
import type { DiskMove, MachineMoves, Move } from '../../../../src/ports/moves.ts';
import { failsAs, machineSpec } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';
import { type HostWorld, hostWorld } from './host-world.ts';

describe('moves through a host over TLS', () => {
  let simulated: SimulatedWorld;
  /** A driver with the moves below. */
  let mover: ComputeDriver;
  let world: HostWorld;
  let calls: unknown[][];
  const move: Move = { id: 'mov_1', machineId: 'srv_1', from: 'near', to: 'away', key: randomBytes(32) };
  const machine = {
    spec: machineSpec({ id: 'srv_1', host: 'away' }),
    volumes: [{ id: 'vol_1', sizeGb: 1, device: '/dev/vdb' }],
  };
  const progress = { state: 'copying', copiedBytes: 1, totalBytes: 2, message: null } as const;

  const moves: MachineMoves = {
    receive: async (...args) => {
      calls.push(['receive', ...args]);
      return { address: ':7444' };
    },
    receiveDisk: async (...args) => {
      calls.push(['receiveDisk', ...args]);
      return { address: ':7444' };
    },
    send: async (...args) => {
      calls.push(['send', ...args]);
      return progress;
    },
    takeOver: async (...args) => void calls.push(['takeOver', ...args]),
    keep: async () => {
      throw new ComputeError('refused', 'not now');
    },
    forget: async (...args) => void calls.push(['forget', ...args]),
  };

  before(async () => {
    simulated = await simulatedWorld();
    mover = Object.create(simulated.driver, { moves: { value: moves } });
    world = await hostWorld(mover);
  });
  beforeEach(() => {
    calls = [];
  });
  after(async () => {
    await world.close();
    await simulated.close();
  });

  function remote(driver = world.driver): MachineMoves {
    return driver.moves ?? assert.fail('the host cannot move machines');
  }

  it('each call of a move arrives with its key, and its answer comes back', async () => {
    assert.deepEqual(await remote().receive(move, machine), { address: ':7444' });
    assert.deepEqual(await remote().send(move, { address: 'away:7444' }), progress);
    await remote().takeOver(move);
    await remote().forget(move, 'to');
    await failsAs('refused', remote().keep(move));
    const [, received] = calls[0] ?? [];
    assert.deepEqual(Buffer.from((received as Move).key), move.key);
    assert.deepEqual(
      calls.map(([name]) => name),
      ['receive', 'send', 'takeOver', 'forget'],
    );
  });

  it('the calls of a disk arrive, and those that do not fit are refused', async () => {
    const { machineId: _, ...transfer } = move;
    const disk = { kind: 'snapshot', id: 'snap_1' } as const;
    const snapshot = { machineId: 'srv_1', generation: 1, diskGb: 20 };
    const lone = { ...transfer, disk };
    const endpoint = await remote().receiveDisk(lone, { sizeGb: 1.25, snapshot });
    assert.deepEqual(endpoint, { address: ':7444' });
    assert.deepEqual(await remote().send(lone, endpoint), progress);
    await remote().forget(lone, 'to');
    assert.deepEqual(
      calls.map(([name, made]) => [name, (made as DiskMove).disk]),
      ['receiveDisk', 'send', 'forget'].map((name) => [name, disk]),
    );
    calls = [];
    await failsAs('refused', remote().receiveDisk(lone, { sizeGb: 1, snapshot: null }));
    await failsAs('refused', remote().receiveDisk(lone, { sizeGb: -1, snapshot }));
    await failsAs('refused', remote().receiveDisk({ ...lone, key: randomBytes(3) }, { sizeGb: 1, snapshot }));
    await failsAs('refused', remote().receiveDisk(move as never, { sizeGb: 1, snapshot }));
    assert.deepEqual(calls, []);
  });

  it('a host of the previous version receives no disk', async () => {
    const older = await hostWorld(mover, { versions: [1, 2, 3] });
    try {
      const { machineId: _, ...transfer } = move;
      const lone = { ...transfer, disk: { kind: 'volume', id: 'vol_1' } } as const;
      const receive = remote(older.driver).receiveDisk(lone, { sizeGb: 1, snapshot: null });
      await failsAs('refused', receive, /update Skerry/);
      // Nothing of it can be there.
      await remote(older.driver).keep(lone);
      await remote(older.driver).forget(lone, 'to');
      assert.deepEqual(calls, []);
    } finally {
      await older.close();
    }
  });

  it('a late call of a move is not carried out', async () => {
    const early = await world.nextCall();
    await remote().takeOver(move);
    const delayed = world.connect({ nextCall: async () => early });
    await failsAs('transient', remote(delayed).forget(move, 'from'));
    assert.deepEqual(
      calls.map(([name]) => name),
      ['takeOver'],
    );
  });

  it('a move without a whole key, or of another machine than it names, is refused', async () => {
    await failsAs('refused', remote().receive({ ...move, key: randomBytes(16) }, machine));
    const other = { ...machine, spec: { ...machine.spec, id: 'srv_2' } };
    await failsAs('refused', remote().receive(move, other));
    assert.deepEqual(calls, []);
  });

  it('the composed driver calls both hosts of a move, and completes the address of the target', async () => {
    const backend: Backend = {
      name: 'away',
      kind: 'host',
      address: 'away.example:7443',
      fingerprint: '0'.repeat(64),
      identity: null,
      isIssued: false,
      inUse: true,
    };
    const registry = new BackendRegistry({
      directory: { list: async () => [backend] },
      open: () => ({ ...world.driver, close: () => undefined }),
      log: createLogger('silent'),
    });
    const composed = composeMoves({
      local: mover,
      directory: { findBackendOfHost: async (host) => (host === 'away' ? 'away' : 'local') },
      registry,
    });
    assert.ok(composed);
    const endpoint = await composed.receive(move, machine);
    assert.deepEqual(endpoint, { address: 'away.example:7444' });
    assert.deepEqual(await composed.send(move, endpoint), progress);
    await composed.forget(move, 'to');
    assert.deepEqual(
      calls.map(([name]) => name),
      ['receive', 'send', 'forget'],
    );
  });
});
