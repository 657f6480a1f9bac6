/** Faults in what is assigned to servers: addresses, machines, room on hosts. */
import type { Mutation } from './mutation.ts';

export const ADDRESSES: readonly Mutation[] = [
  {
    name: 'a deploy does not lock the address that it selects',
    file: 'src/store/servers/deploy.ts',
    find: 'order by free_from, addr limit 1 for update skip locked),',
    replace: 'order by free_from, addr limit 1),',
    caughtBy: {
      file: 'test/domain/servers/deploy/deploy-races.test.ts',
      name: 'concurrent orders succeed as long as capacity and balances last',
    },
    budgetS: 40,
    figure: 'kills',
  },
  {
    name: 'a deploy does not lock the dedicated machine that it selects',
    file: 'src/store/servers/deploy.ts',
    find: 'order by id limit 1 for update skip locked),',
    replace: 'order by id limit 1),',
    caughtBy: {
      file: 'test/domain/servers/deploy/deploy-races.test.ts',
      name: 'each dedicated machine is sold once',
    },
    budgetS: 30,
    figure: 'kills',
  },
  {
    name: 'a deploy does not check the room on its host under the lock',
    file: 'src/store/servers/deploy.ts',
    find: 'and exists (select from debit) and ${FITS}',
    replace: 'and exists (select from debit)',
    caughtBy: {
      file: 'test/domain/servers/deploy/deploy-races.test.ts',
      name: 'concurrent orders succeed as long as capacity and balances last',
    },
    budgetS: 40,
    figure: 'deploys',
  },
  {
    name: 'a released address does not rest',
    file: 'src/domain/servers/operations/remove.ts',
    find: 'const freeFrom = new Date(now.getTime() + restMs);',
    replace: 'const freeFrom = new Date(now.getTime() + 0 * restMs);',
    caughtBy: {
      file: 'test/domain/servers/deploy/give-up.test.ts',
      name: 'a removed server frees its host at once, and its addresses rest for seven days',
    },
    budgetS: 30,
    figure: 'kills',
  },
  {
    name: 'a server that leaves its host keeps its room there',
    file: 'src/store/servers/placements.ts',
    find: 'with freed as (\n       update hosts h set used_ram_mb = h.used_ram_mb - s.ram_mb,',
    replace: 'with freed as (\n       update hosts h set used_ram_mb = h.used_ram_mb,',
    caughtBy: {
      file: 'test/domain/servers/deploy/give-up.test.ts',
      name: 'a removed server frees its host at once, and its addresses rest for seven days',
    },
    budgetS: 30,
    figure: 'kills',
  },
];
