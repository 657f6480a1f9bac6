/** Addresses and the room on hosts: each has one server at a time. */
import assert from 'node:assert/strict';
import { blockAddresses } from '../../../src/domain/inventory/blocks.ts';
import { deploy } from '../../../src/domain/servers/deploy/deploy.ts';
import { destroyServer } from '../../../src/domain/servers/operations/destroy.ts';
import { formatId } from '../../../src/kernel/ids.ts';
import type { Sql } from '../../../src/kernel/sql.ts';
import { DAY_MS, MINUTE_MS } from '../../../src/kernel/time.ts';
import { operateJob } from '../../../src/workers/operate.ts';
import { S1 } from '../../support/fixtures.ts';
import type { Scenario } from '../core/explore.ts';
import { isDone } from '../core/outcomes.ts';
import type { InterleaveWorld } from '../core/world.ts';

const REST_MS = 7 * DAY_MS;

async function leaveFree(db: Sql, count: number): Promise<void> {
  await db.run(
    `update ipv4_addresses set blocked = true where server_id is null and addr not in
       (select addr from ipv4_addresses where server_id is null order by addr limit $1)`,
    [count],
  );
}

/** Returns the order of a new customer. */
async function deployFor(world: InterleaveWorld, name: string): Promise<() => Promise<void>> {
  const actor = await world.fixtures.addCustomer(S1.price_cents_month);
  return async () => {
    await deploy(world.service(), actor, world.fixtures.buildOrder({ name }));
  };
}

/** Deploys a server that never runs, and starts its removal. */
async function prepareRemoval(world: InterleaveWorld): Promise<void> {
  const actor = await world.fixtures.addCustomer(S1.price_cents_month);
  const service = world.service();
  const { server } = await deploy(service, actor, world.fixtures.buildOrder({ name: 'leaves' }));
  await destroyServer(service, actor, formatId('server', server.id));
}

/** One address is free, one is released meanwhile, and three customers want one each. */
const lastAddress: Scenario = {
  name: 'last-address',
  chances: { deaths: 1, faults: 1 },
  prepare: async (world) => {
    await prepareRemoval(world);
    await leaveFree(world.db, 1);
    return {
      tasks: {
        'takes-1': await deployFor(world, 'web-1'),
        'takes-2': await deployFor(world, 'web-2'),
        'takes-3': await deployFor(world, 'web-3'),
        removes: async () => void (await operateJob(world.service()).run()),
      },
      check: async (tasks) => {
        const done = tasks.filter((task) => task.name !== 'removes' && isDone(task));
        assert.ok(done.length <= 2, `${done.length} servers have two addresses`);
      },
    };
  },
};

/** The operator blocks the last free addresses and unblocks them, while servers take and release them. */
const blockAndTake: Scenario = {
  name: 'block-and-take',
  prepare: async (world) => {
    await prepareRemoval(world);
    await leaveFree(world.db, 2);
    const block = (blocked: boolean) => async () =>
      void (await blockAddresses(world.service(), '10.0.0.0/16', blocked));
    return {
      tasks: {
        'takes-1': await deployFor(world, 'web-1'),
        'takes-2': await deployFor(world, 'web-2'),
        blocks: block(true),
        unblocks: block(false),
        removes: async () => void (await operateJob(world.service()).run()),
      },
    };
  },
};

/** A server that ran is deleted. Others want its address, which must rest, and the room on its host. */
const deleteAndTake: Scenario = {
  name: 'delete-and-take',
  chances: { jumpsMs: [DAY_MS, REST_MS], jumps: 2, faults: 1 },
  prepare: async (world) => {
    const { actor, shownId } = world.owner;
    await leaveFree(world.db, 1);
    // Room for one more server on one host.
    await world.db.run(
      'update hosts set ram_mb = case when used_ram_mb > 0 then used_ram_mb + $1::int else 1 end',
      [S1.ram_mb],
    );
    const work = async () => {
      const job = operateJob(world.service());
      for (let runs = 0; runs < 3; runs++) await job.run();
    };
    return {
      tasks: {
        deletes: async () => void (await destroyServer(world.service(), actor, shownId)),
        'takes-1': await deployFor(world, 'web-1'),
        'takes-2': await deployFor(world, 'web-2'),
        works: work,
      },
      finish: async () => {
        const until = new Date(world.clock.now().getTime() + 10 * MINUTE_MS);
        await world.runJobs([operateJob(world.service())], until);
      },
      check: async (_, db) => {
        const rows = await db.rows<{ address: string }>(
          `select later.address::text from address_assignments earlier
             join address_assignments later
               on later.address = earlier.address and later.server_id <> earlier.server_id
              and later.assigned_at >= earlier.assigned_at
            where earlier.server_id = $1
              and later.assigned_at < coalesce(earlier.released_at, 'infinity') + interval '7 days'`,
          [world.owner.serverId],
        );
        assert.deepEqual(rows, [], 'an address was assigned again before it had rested');
      },
    };
  },
};

export const ADDRESSES: readonly Scenario[] = [lastAddress, blockAndTake, deleteAndTake];
