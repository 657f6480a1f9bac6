import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { composeCopies } from '../../../../src/drivers/compute/composed/copies.ts';
import { BackendRegistry } from '../../../../src/drivers/compute/composed/registry.ts';
import { Route } from '../../../../src/drivers/compute/composed/route.ts';
import { createLogger } from '../../../../src/kernel/logger.ts';
import type { BackendDirectory } from '../../../../src/ports/backends.ts';
import type { ComputeDriver } from '../../../../src/ports/compute.ts';
import type { PreparedCopy, SnapshotCopies } from '../../../../src/ports/copies.ts';
import { failsAs } from '../compute-world.ts';
import { type SimulatedWorld, simulatedWorld } from '../simulator/simulator-world.ts';
import { type HostWorld, hostWorld } from './host-world.ts';

const SHA256 = 'ab'.repeat(32);
const FILE: PreparedCopy = {
  sizeBytes: 9,
  sha256: SHA256,
  partBytes: 5,
  partMd5s: ['a', 'b'].map((c) => c.repeat(32)),
};
const FETCHED = { host: 'away', machineId: 'srv_1', generation: 2, diskGb: 10, sizeGb: 0.5 };
const WORKING = { state: 'working', bytes: 3, fault: null, message: null } as const;

describe('copies of snapshots through a host over TLS', () => {
  let simulated: SimulatedWorld;
  let copier: ComputeDriver;
  let world: HostWorld;
  let calls: unknown[][];
  let prepared: PreparedCopy | null;

  const copies: SnapshotCopies = {
    prepareCopy: async (...args) => {
      calls.push(['prepareCopy', ...args]);
      return prepared;
    },
    sendCopy: async (...args) => {
      calls.push(['sendCopy', ...args]);
      return WORKING;
    },
    forgetCopy: async (...args) => void calls.push(['forgetCopy', ...args]),
    fetchCopy: async (...args) => {
      calls.push(['fetchCopy', ...args]);
      return WORKING;
    },
  };
  const copiesOf = ({ copies: found }: ComputeDriver) => found ?? assert.fail('it cannot copy snapshots');
  const parts = [{ offset: 0, sizeBytes: 5, md5: 'a'.repeat(32), url: 'https://store/part' }];
  const stored = { sizeBytes: 9, sha256: SHA256, url: 'https://store/whole' };

  before(async () => {
    simulated = await simulatedWorld();
    copier = Object.create(simulated.driver, {
      copies: { value: copies },
      removeSnapshot: { value: async (id: string) => void calls.push(['removeSnapshot', id]) },
    });
    world = await hostWorld(copier);
  });
  beforeEach(() => {
    calls = [];
    prepared = FILE;
  });
  after(async () => {
    await world.close();
    await simulated.close();
  });

  it('each call arrives, and its answer comes back', async () => {
    const remote = copiesOf(world.driver);
    assert.deepEqual(await remote.prepareCopy('snap_1'), FILE);
    prepared = null;
    assert.equal(await remote.prepareCopy('snap_1'), null);
    assert.deepEqual(await remote.sendCopy('snap_1', parts), WORKING);
    assert.deepEqual(await remote.fetchCopy('snap_1', FETCHED, stored), WORKING);
    await remote.forgetCopy('snap_1');
    assert.deepEqual(calls, [
      ['prepareCopy', 'snap_1'],
      ['prepareCopy', 'snap_1'],
      ['sendCopy', 'snap_1', parts],
      ['fetchCopy', 'snap_1', FETCHED, stored],
      ['forgetCopy', 'snap_1'],
    ]);
  });

  it('an answer that is no copy is refused', async () => {
    const remote = copiesOf(world.driver);
    for (const wrong of [{ sizeBytes: 0 }, { sha256: 'x' }, { partMd5s: [] }, { partBytes: 0.5 }]) {
      prepared = { ...FILE, ...wrong };
      await failsAs('transient', remote.prepareCopy('snap_1'));
    }
  });

  it('a host of an earlier version keeps its snapshots, and is not asked to forget copies', async () => {
    const earlier = copiesOf(world.connect({ versions: [6, 7] }));
    await failsAs('refused', earlier.prepareCopy('snap_1'));
    await failsAs('refused', earlier.fetchCopy('snap_1', FETCHED, stored));
    await earlier.forgetCopy('snap_1');
    assert.deepEqual(calls, []);
  });

  it('a fetch takes the snapshot from the backend that has it before another one fetches it', async () => {
    const places = new Map([['snap_1', 'away']]);
    const directory: BackendDirectory = {
      ...({} as BackendDirectory),
      list: async () => [world.backend],
      findBackendOfHost: async (host) => (host === 'here' ? 'local' : world.backend.name),
      find: async (_, ids) => new Map([...places].filter(([id]) => ids.includes(id))),
      claim: async (_, id, backend) => {
        places.set(id, places.get(id) ?? backend);
        return places.get(id) ?? backend;
      },
      release: async (_, id) => void places.delete(id),
    };
    const local = copier;
    const log = createLogger('silent');
    const registry = new BackendRegistry({ directory, open: () => world.driver, log });
    const route = new Route({ local, directory, registry, localFiles: null });
    const composed = composeCopies({ local, directory, registry, route });
    places.clear();
    await composed.fetchCopy('snap_1', { ...FETCHED, host: world.backend.name }, stored);
    assert.equal(places.get('snap_1'), world.backend.name);
    assert.deepEqual(calls[0], ['removeSnapshot', 'snap_1']);
    await composed.fetchCopy('snap_1', { ...FETCHED, host: 'here' }, stored);
    assert.equal(places.has('snap_1'), false);
    assert.deepEqual(
      calls.map(([name]) => name),
      ['removeSnapshot', 'fetchCopy', 'removeSnapshot', 'fetchCopy'],
    );
  });
});
