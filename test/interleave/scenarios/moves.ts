/** Moves between hosts: a server is on one host at a time, wherever its move breaks off. */
import assert from 'node:assert/strict';
import { moveServer } from '../../../src/domain/servers/moves/queue.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { stopServer } from '../../../src/domain/servers/operations/power.ts';
import { freezeServer, releaseServer } from '../../../src/domain/servers/operator/controls.ts';
import { MINUTE_MS, SECOND_MS } from '../../../src/kernel/time.ts';
import { LEASE_S } from '../../../src/store/leases.ts';
import type { Job } from '../../../src/workers/job.ts';
import { operateJob } from '../../../src/workers/operate.ts';
import { tasksJob } from '../../../src/workers/tasks.ts';
import type { Chances } from '../core/events.ts';
import type { Scenario } from '../core/explore.ts';
import type { InterleaveWorld } from '../core/world.ts';

const CHANCES: Chances = {
  deaths: 1,
  faults: 2,
  jumpsMs: [SECOND_MS, 4 * SECOND_MS, (LEASE_S + 1) * SECOND_MS],
  jumps: 3,
};
const RUNS = 6;

function jobsOf(world: InterleaveWorld): readonly Job[] {
  const service = world.service();
  return [tasksJob(service), operateJob(service)];
}

function works(world: InterleaveWorld): () => Promise<void> {
  return async () => {
    const jobs = jobsOf(world);
    for (let runs = 0; runs < RUNS; runs++) for (const job of jobs) await job.run();
  };
}

type Acts = Readonly<Record<string, (world: InterleaveWorld) => Promise<unknown>>>;

/** Two processes move a server, while others act on it. */
function move(name: string, acts: Acts): Scenario {
  return {
    name,
    chances: CHANCES,
    prepare: async (world) => {
      const { shownId, serverId } = world.owner;
      await moveServer(world.service(), shownId, null);
      const others = Object.entries(acts).map(([task, act]) => [task, async () => void (await act(world))]);
      return {
        tasks: { 'works-1': works(world), 'works-2': works(world), ...Object.fromEntries(others) },
        finish: () => world.runJobs(jobsOf(world), new Date(world.clock.now().getTime() + 30 * MINUTE_MS)),
        check: async (_, db) => {
          const server = await db.row<{ host: string }>(
            'select h.name as host from servers s join hosts h on h.id = s.host_id where s.id = $1',
            [serverId],
          );
          const machines = (await world.simulator.machines()).filter(({ id }) => id === serverId);
          assert.deepEqual(
            machines.map(({ host }) => host),
            server === undefined ? [] : [server.host],
          );
          const moves = await db.rows('select state from moves');
          assert.deepEqual(moves, [], 'the move has not ended');
        },
      };
    },
  };
}

export const MOVES: readonly Scenario[] = [
  move('move-stop-delete', {
    stops: async (world) => await stopServer(world.service(), world.owner.actor, world.owner.shownId),
    deletes: async (world) => await destroyServer(world.service(), world.owner.actor, world.owner.shownId),
  }),
  move('move-and-freeze', {
    freezes: async (world) => await freezeServer(world.service(), world.owner.shownId, 'abuse'),
    unfreezes: async (world) =>
      await releaseServer(world.service(), world.owner.shownId, { freeze: true, hold: false }),
  }),
];
