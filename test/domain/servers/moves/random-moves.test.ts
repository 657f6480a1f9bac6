/**
 * Random moves with faults, hosts that go down, customers who act meanwhile, and processes that die at any
 * statement or driver call. In the end each server has one machine, on its host, and no machine ran twice.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import fc from 'fast-check';
import type { Service } from '../../../../src/domain/context.ts';
import { drainHost } from '../../../../src/domain/inventory/hosts.ts';
import { moveEverythingOff, moveServer } from '../../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../../src/domain/servers/operations/destroy.ts';
import { rebootServer, startServer, stopServer } from '../../../../src/domain/servers/operations/power.ts';
import { freezeServer, releaseServer } from '../../../../src/domain/servers/operator/controls.ts';
import { createSnapshot } from '../../../../src/domain/snapshots/change.ts';
import { attachVolume, detachVolume } from '../../../../src/domain/volumes/attach.ts';
import { createVolume } from '../../../../src/domain/volumes/change.ts';
import { Failure } from '../../../../src/kernel/fail.ts';
import { formatId } from '../../../../src/kernel/ids.ts';
import { OperatorError } from '../../../../src/kernel/operator-error.ts';
import { listMoves } from '../../../../src/store/servers/moves.ts';
import { findServer } from '../../../../src/store/servers/servers.ts';
import { operateJob } from '../../../../src/workers/operate.ts';
import { tasksJob } from '../../../../src/workers/tasks.ts';
import { PROPERTY_RUNS } from '../../../support/runs.ts';
import { seededRuns } from '../../../support/seed.ts';
import type { TestService } from '../../../support/test-service.ts';
import { RegionWorld } from '../region-world.ts';

const HOSTS = 3;
const SERVERS = 2;
const CALLS = ['receive', 'receiveDisk', 'send', 'takeOver', 'keep', 'forget'] as const;

let region: RegionWorld;
let world: TestService;
before(async () => {
  region = await RegionWorld.open();
  world = region.world;
});
after(() => world.close());

interface Script {
  readonly servers: readonly { readonly id: string; readonly shown: string }[];
  readonly volume: string;
}
type Action = (script: Script) => Promise<unknown>;

const server = fc.nat({ max: SERVERS - 1 });
const host = fc.nat({ max: HOSTS - 1 }).map((n) => () => region.hosts[n] ?? '');
const shownOf = ({ servers }: Script, n: number) => servers[n]?.shown ?? '';

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: server.map(
      (n): Action =>
        (all) =>
          moveServer(world.service, shownOf(all, n), null),
    ),
  },
  {
    weight: 2,
    arbitrary: host.map(
      (name): Action =>
        () =>
          moveEverythingOff(world.service, name(), 2),
    ),
  },
  {
    weight: 2,
    arbitrary: host.map(
      (name): Action =>
        () =>
          drainHost(world.service, name(), false),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({
        call: fc.constantFrom(...CALLS),
        times: fc.integer({ min: 0, max: 3 }),
      })
      .map(
        ({ call, times }): Action =>
          () =>
            world.faults.set({ driver: 'compute', operation: `moves.${call}`, times }),
      ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(host, fc.boolean()).map(
      ([name, down]): Action =>
        () =>
          world.simulator.setHostDown(name(), down),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(server, fc.constantFrom(stopServer, startServer, softReboot, freeze, release)).map(
      ([n, act]): Action =>
        (all) =>
          act(world.service, region.actor, shownOf(all, n)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(server, fc.boolean()).map(
      ([n, attach]): Action =>
        (all) =>
          attach
            ? attachVolume(world.service, region.actor, all.volume, { server: shownOf(all, n) })
            : detachVolume(world.service, region.actor, all.volume),
    ),
  },
  {
    weight: 2,
    arbitrary: server.map(
      (n): Action =>
        (all) =>
          createSnapshot(world.service, region.actor, shownOf(all, n), {}),
    ),
  },
  {
    weight: 1,
    arbitrary: server.map(
      (n): Action =>
        (all) =>
          destroyServer(world.service, region.actor, shownOf(all, n)),
    ),
  },
);

/** How often each call fails at first. Without these, few faults would meet a move that gets so far. */
const firstFaults = fc.array(fc.integer({ min: 0, max: 2 }), {
  minLength: CALLS.length,
  maxLength: CALLS.length,
});

async function failCalls(times: readonly number[]): Promise<void> {
  for (const [n, call] of CALLS.entries())
    await world.faults.set({ driver: 'compute', operation: `moves.${call}`, times: times[n] ?? 0 });
}

/** A process that works for some steps, and dies during one if `diesAfter` is not null. */
const rounds = fc.array(
  fc.record({
    actions: fc.array(action, { maxLength: 2 }),
    diesAfter: fc.option(fc.nat({ max: 60 })),
    seconds: fc.integer({ min: 0, max: 12 }),
  }),
  { minLength: 6, maxLength: 14 },
);

function softReboot(...[service, actor, shown]: Parameters<typeof stopServer>): Promise<unknown> {
  return rebootServer(service, actor, shown, { hard: false });
}
function freeze(service: Service, _: unknown, shown: string): Promise<unknown> {
  return freezeServer(service, shown, 'report');
}
function release(service: Service, _: unknown, shown: string): Promise<unknown> {
  return releaseServer(service, shown, { freeze: true, hold: false });
}

it('any move with faults and kills ends with one machine per server, on its host', async (t) => {
  await fc.assert(
    fc.asyncProperty(firstFaults, rounds, async (faults, script) => {
      await region.reset([4, 4, 4]);
      const all = await prepare();
      await failCalls(faults);
      for (const { shown } of all.servers) await moveServer(world.service, shown, null);
      for (const { actions, diesAfter, seconds } of script) {
        for (const act of actions) await act(all).catch(ignoreRefusal);
        await work(diesAfter === null ? world.service : mortal(world.service, diesAfter));
        world.clock.advanceS(seconds);
      }
      await calmDown();
      for (const { id } of all.servers) await assertOneMachine(id);
      await assertOneCopies();
      assert.deepEqual(await listMoves(world.db, { host: null, limit: 10 }), []);
      await world.assertInvariants();
    }),
    // A script that does not end takes its whole time limit: do not look for a shorter one.
    { ...seededRuns(t, PROPERTY_RUNS), endOnFailure: true },
  );
});

async function prepare(): Promise<Script> {
  const servers = [];
  for (let n = 0; n < SERVERS; n++) servers.push(await region.running());
  const fields = { name: 'data', size_gb: 10, region: region.regionId };
  const { id: volume } = await createVolume(world.service, region.actor, fields);
  return { servers, volume };
}

function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Failure) && !(error instanceof OperatorError)) throw error;
}

/** One round of all due work, after which the leases of a dead process have expired. */
async function work(service: Service): Promise<void> {
  for (const job of [tasksJob(service), operateJob(service)]) await job.run().catch(() => undefined);
  for (const queue of ['operations', 'tasks'])
    await world.db.run(`update ${queue} set lease_id = null, leased_until = null`);
}

/** The service of a process that dies during one of its next statements or calls. */
function mortal(service: Service, steps: number): Service {
  let left = steps;
  const live = () => {
    left -= 1;
    if (left < 0) throw new Error('killed');
  };
  const compute = mortalPart(service.compute, live);
  const db = mortalPart(service.db, live);
  return { ...service, db, reads: db, compute };
}

/** Dies before a call, or after it: the effect is there, and its result is not. */
function mortalPart<T extends object>(part: T, live: () => void): T {
  return new Proxy(part, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'moves' && typeof value === 'object' && value !== null) return mortalPart(value, live);
      if (typeof value !== 'function') return value;
      return async (...args: unknown[]) => {
        live();
        const result: unknown = await value.apply(target, args);
        live();
        return result;
      };
    },
  });
}

/** No more faults: everything that is under way or queued ends. */
async function calmDown(): Promise<void> {
  await failCalls([]);
  for (const name of region.hosts) {
    await world.simulator.setHostDown(name, false);
    await drainHost(world.service, name, false);
  }
  await world.runUntilIdle();
}

/** No copy is left over, and snapshots are where the service knows. */
async function assertOneCopies(): Promise<void> {
  const copies = await world.simulator.diskMoves();
  assert.deepEqual(
    copies.filter(({ source, target }) => source !== 'gone' && target !== 'gone'),
    [],
    'a copy is left over',
  );
  for (const { id, host: name, state } of await world.simulator.snapshots()) {
    const row = await world.db.row<{ name: string }>(
      'select h.name from snapshots n join hosts h on h.id = n.host_id where n.id::text = $1',
      [id],
    );
    if (state === 'ready') assert.equal(name, row?.name, id);
  }
}

async function assertOneMachine(id: string): Promise<void> {
  const row = await findServer(world.db, id);
  const machine = await region.machine(id);
  const moves = (await world.simulator.moves()).filter(({ machineId }) => machineId === id);
  assert.deepEqual(
    moves.filter(({ source, target }) => source !== 'gone' && target !== 'gone'),
    [],
    'a copy is left over',
  );
  if (row === undefined) return assert.equal(machine, undefined, formatId('server', id));
  const hostRow = await world.db.row<{ name: string }>('select name from hosts where id = $1', [row.host_id]);
  assert.deepEqual(
    [machine?.host, machine?.state],
    [hostRow?.name, row.status === 'suspended' ? 'stopped' : row.status],
  );
}
