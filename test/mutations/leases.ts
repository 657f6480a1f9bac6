/** Faults in the work queue: leases, retries, and steps that run twice. */
import type { Mutation } from './mutation.ts';

export const LEASES: readonly Mutation[] = [
  {
    name: 'two workers may claim the same operation',
    file: 'src/store/servers/operations.ts',
    find: 'where due_at <= $1 and (leased_until is null or leased_until < clock_timestamp())',
    replace: 'where due_at <= $1',
    caughtBy: {
      file: 'test/workers/claim.test.ts',
      name: 'a due operation is claimed by one of many concurrent workers',
    },
    budgetS: 30,
    figure: 'steps',
  },
  {
    name: 'an operation is claimed while its lease lasts',
    file: 'src/store/servers/operations.ts',
    find: 'leased_until < clock_timestamp())',
    replace: "leased_until < clock_timestamp() + interval '1 second')",
    caughtBy: {
      file: 'test/workers/claim.test.ts',
      name: 'a lease excludes other workers exactly until it expires',
    },
    budgetS: 30,
    figure: 'steps',
  },
  {
    name: 'a step is written without its lease',
    file: 'src/store/servers/operations.ts',
    find: 'lease_id = null, leased_until = null\n  where id = $id and lease_id = $lease_id`;',
    replace: 'lease_id = null, leased_until = null\n  where id = $id`;',
    caughtBy: {
      file: 'test/domain/servers/operations/steps-twice.test.ts',
      name: 'writes nothing when it loses its lease during the driver call',
    },
    budgetS: 60,
    figure: 'steps',
  },
  {
    name: 'an operation is finished without its lease',
    file: 'src/store/servers/operations.ts',
    find: 'delete from operations where id = $id and lease_id = $lease_id`',
    replace: 'delete from operations where id = $id`',
    caughtBy: {
      file: 'test/domain/servers/operations/steps-twice.test.ts',
      name: 'writes nothing when it loses its lease during the driver call',
    },
    budgetS: 60,
    figure: 'steps',
  },
  {
    name: 'a heartbeat does not extend the lease',
    file: 'src/store/leases.ts',
    find: 'set leased_until = clock_timestamp() + make_interval(secs => $2) where lease_id = $1`',
    replace: 'set leased_until = leased_until + make_interval(secs => $2 * 0) where lease_id = $1`',
    caughtBy: {
      file: 'test/workers/claim.test.ts',
      name: 'a lease is extended by a heartbeat at least three times before it would expire',
    },
    budgetS: 30,
    figure: 'steps',
  },
  {
    name: 'leases of a living process are released',
    file: 'src/store/leases.ts',
    find: 'leftS: LEASE_S - MISSED_HEARTBEATS_S',
    replace: 'leftS: LEASE_S',
    caughtBy: {
      file: 'test/workers/take-over.test.ts',
      name: 'stay with a process that lost its session and still extends them',
    },
    budgetS: 40,
    figure: 'kills',
  },
  {
    name: 'leases of a dead process are never released',
    file: 'src/store/service/processes.ts',
    find: '`select first_lease, last_lease from processes p where ${HAS_ENDED_SQL}',
    replace: '`select first_lease, last_lease from processes p where not ${HAS_ENDED_SQL}',
    caughtBy: {
      file: 'test/workers/take-over.test.ts',
      name: 'are released soon after its session ended, and no others are',
    },
    budgetS: 60,
    figure: 'kills',
  },
  {
    name: 'an unexpected error of one operation ends the whole batch',
    file: 'src/domain/servers/operations/step.ts',
    find: 'else await postpone(service, operation, error);',
    replace: 'else throw error;',
    caughtBy: {
      file: 'test/workers/operate.test.ts',
      name: 'an operation that fails unexpectedly is postponed and blocks no other',
    },
    budgetS: 30,
    figure: 'steps',
  },
  {
    name: 'a slow host blocks the batches of other hosts',
    file: 'src/workers/claim.ts',
    find: 'const CONCURRENT_BATCHES_MAX = 4;',
    replace: 'const CONCURRENT_BATCHES_MAX = 1;',
    caughtBy: {
      file: 'test/workers/operate-slow.test.ts',
      name: 'a slow host does not delay steps of servers on other hosts',
    },
    budgetS: 40,
    figure: 'faults',
  },
];
