/** Leases: one worker at a time, and another one goes on where it died or overslept. */
import assert from 'node:assert/strict';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { createSnapshot, deleteSnapshot } from '../../../src/domain/snapshots/change.ts';
import { attachVolume, detachVolume } from '../../../src/domain/volumes/attach.ts';
import { createVolume, deleteVolume } from '../../../src/domain/volumes/change.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { LEASE_S } from '../../../src/store/leases.ts';
import type { Job } from '../../../src/workers/job.ts';
import { operateJob } from '../../../src/workers/operate.ts';
import { tasksJob } from '../../../src/workers/tasks.ts';
import { S1 } from '../../support/fixtures.ts';
import type { Call } from '../core/driver.ts';
import type { Chances } from '../core/events.ts';
import type { Scenario } from '../core/explore.ts';
import type { InterleaveWorld } from '../core/world.ts';

/** A lease ends before a process that lives has extended it, or just does not. */
const CHANCES: Chances = {
  deaths: 1,
  faults: 2,
  jumpsMs: [SECOND_MS, 4 * SECOND_MS, (LEASE_S + 1) * SECOND_MS],
  jumps: 3,
};
const RUNS = 4;

/** Fails when two workers call a host for one server, and the lease of the first cannot have ended. */
class Exclusive {
  readonly #now: () => Date;
  readonly #claimedMs = new Map<string, number>();
  readonly #calls = new Set<Call>();
  fault: string | null = null;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** The worker claims now, or later. */
  claims(worker: string): void {
    this.#claimedMs.set(worker, this.#now().getTime());
  }

  readonly onCall = (call: Call): (() => void) => {
    const subject = JSON.stringify(call.values[0]);
    for (const other of this.#calls) {
      if (other.task === call.task || JSON.stringify(other.values[0]) !== subject) continue;
      const heldMs = this.#now().getTime() - (this.#claimedMs.get(other.task.name) ?? 0);
      if (other.task.state === 'running' && heldMs < LEASE_S * SECOND_MS)
        this.fault = `${call.task.name} calls ${call.method} during ${other.method} of ${other.task.name}`;
    }
    this.#calls.add(call);
    return () => this.#calls.delete(call);
  };
}

function worker(name: string, job: Job, exclusive: Exclusive) {
  return async (): Promise<void> => {
    for (let runs = 0; runs < RUNS; runs++) {
      exclusive.claims(name);
      await job.run();
    }
  };
}

async function finishJobs(world: InterleaveWorld, jobs: readonly Job[]): Promise<void> {
  await world.runJobs(jobs, new Date(world.clock.now().getTime() + 30 * MINUTE_MS));
}

/** Two workers install a server, which its customer may delete meanwhile. */
function installScenario(name: string, isDeleted: boolean): Scenario {
  return {
    name,
    chances: CHANCES,
    prepare: async (world) => {
      const actor = await world.fixtures.addCustomer(S1.price_cents_month);
      const order = world.fixtures.buildOrder({ name: 'installed' });
      const { server } = await deploy(world.service(), actor, order);
      const exclusive = new Exclusive(() => world.clock.now());
      const compute = world.compute(exclusive.onCall);
      const job = () => operateJob(world.service({ compute }));
      const destroy = async () =>
        void (await destroyServer(world.service(), actor, formatId('server', server.id)));
      return {
        tasks: {
          'worker-1': worker('worker-1', job(), exclusive),
          'worker-2': worker('worker-2', job(), exclusive),
          ...(isDeleted ? { deletes: destroy } : {}),
        },
        finish: () => finishJobs(world, [job()]),
        check: async (tasks, db) => {
          assert.equal(exclusive.fault, null);
          const deleted = tasks.some((task) => task.name === 'deletes' && task.state === 'ended');
          const row = await db.row<{ status: string }>('select status from servers where id = $1', [
            server.id,
          ]);
          const machine = (await world.simulator.machines()).find(({ id }) => id === server.id);
          if (!isDeleted) assert.deepEqual([row?.status, machine?.state], ['running', 'running']);
          else if (deleted) assert.equal(machine === undefined, row === undefined);
        },
      };
    },
  };
}

/** Two workers follow a customer who attaches, detaches, and deletes a volume. */
const volumes: Scenario = {
  name: 'volume-tasks',
  chances: CHANCES,
  prepare: async (world) => {
    const { actor, shownId } = world.owner;
    const volume = await createVolume(world.service(), actor, { name: 'data', size_gb: 10, region: 'par' });
    await attachVolume(world.service(), actor, volume.id, { server: shownId });
    const exclusive = new Exclusive(() => world.clock.now());
    const compute = world.compute(exclusive.onCall);
    const job = () => tasksJob(world.service({ compute }));
    return {
      tasks: {
        'worker-1': worker('worker-1', job(), exclusive),
        'worker-2': worker('worker-2', job(), exclusive),
        customer: async () => {
          await detachVolume(world.service(), actor, volume.id);
          await deleteVolume(world.service(), actor, volume.id);
        },
      },
      finish: () => finishJobs(world, [job()]),
      check: async (_, db) => {
        assert.equal(exclusive.fault, null);
        const [row] = await db.rows<{ attached: boolean }>(
          'select server_id is not null as attached from volumes',
        );
        const [made] = await world.simulator.volumes();
        assert.equal(made?.machineId != null, row?.attached ?? false);
        assert.ok(row !== undefined || made === undefined, 'the data of a deleted volume is still there');
      },
    };
  },
};

/** Two workers take a snapshot, which its customer tries to delete, while its server is deleted. */
const snapshots: Scenario = {
  name: 'snapshot-tasks',
  chances: CHANCES,
  prepare: async (world) => {
    const { actor, shownId } = world.owner;
    const snapshot = await createSnapshot(world.service(), actor, shownId, { name: 'before' });
    const exclusive = new Exclusive(() => world.clock.now());
    const compute = world.compute(exclusive.onCall);
    const tasks = () => tasksJob(world.service({ compute }));
    const operations = () => operateJob(world.service({ compute }));
    return {
      tasks: {
        'worker-1': worker('worker-1', tasks(), exclusive),
        'worker-2': worker('worker-2', tasks(), exclusive),
        'worker-3': worker('worker-3', operations(), exclusive),
        'deletes-snapshot': async () => void (await deleteSnapshot(world.service(), actor, snapshot.id)),
        'deletes-server': async () => void (await destroyServer(world.service(), actor, shownId)),
      },
      finish: () => finishJobs(world, [tasks(), operations()]),
      check: async (_, db) => {
        assert.equal(exclusive.fault, null);
        const [row] = await db.rows<{ status: string }>('select status from snapshots');
        const [made] = await world.simulator.snapshots();
        assert.notEqual(row?.status, 'creating');
        assert.equal(made !== undefined, row?.status === 'ready', `${row?.status} ${JSON.stringify(made)}`);
      },
    };
  },
};

export const LEASES: readonly Scenario[] = [
  installScenario('install', false),
  installScenario('install-and-delete', true),
  volumes,
  snapshots,
];
