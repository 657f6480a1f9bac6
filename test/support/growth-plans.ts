/** Runs every list and every background job on a large database, and returns the plans that grow with it. */
import type { Service } from '../../src/domain/context.ts';
import type { Sql } from '../../src/kernel/sql.ts';
import type { PageRequest } from '../../src/spec/lists.ts';
import { findAuditEvent, listOperatorAudit } from '../../src/store/audit.ts';
import { findEventBounds, readEventContents, readNumberedEvents } from '../../src/store/events/events.ts';
import { findMetrics } from '../../src/store/servers/metrics.ts';
import { commonJobs } from '../../src/workers/jobs.ts';
import { filterCombinations, LONG_LISTS } from './long-lists/all.ts';
import { CUSTOMER_ID } from './long-lists/rows.ts';
import { type PlanBounds, watchPlans } from './watched-plans.ts';

const SIZE = 25;
/** Once an hour it looks at every sealed value. */
const READS_ALL = ['reseal'];
const NO_SENDER = { send: async () => ({ status: 200, error: null }) as never, close: async () => undefined };

export interface GrowthPlans {
  readonly statements: number;
  readonly faults: readonly string[];
}

export async function findGrowingPlans(service: Service, bounds: PlanBounds): Promise<GrowthPlans> {
  const watched = await watchPlans(service.db, bounds);
  const db = watched.db as Service['db'];
  await readLists(db);
  await readOthers(db, service.clock.now());
  const jobs = commonJobs({ ...service, db, reads: db }, NO_SENDER as never);
  for (const job of jobs) {
    if (READS_ALL.includes(job.name)) continue;
    await job.nextDue();
    await job.run();
    await job.busy();
  }
  return { statements: watched.count(), faults: [...new Set(watched.faults)] };
}

/** The first pages and the following one, with every filter, sort, and direction. */
async function readLists(db: Sql): Promise<void> {
  for (const list of LONG_LISTS) {
    for (const filter of filterCombinations(list, 10_000)) {
      for (const sort of list.sorts) {
        for (const descending of [true, false]) {
          const page: PageRequest = { filter, sort, descending, after: null, size: SIZE };
          const { next } = await list.read(db, page);
          if (next) await list.read(db, { ...page, after: next });
        }
      }
    }
  }
}

async function readOthers(db: Sql, now: Date): Promise<void> {
  const [audit] = await listOperatorAudit(db, {}, SIZE);
  if (audit) await findAuditEvent(db, CUSTOMER_ID, audit.id, new Date(0));
  await findEventBounds(db, CUSTOMER_ID, 0n);
  const events = await readNumberedEvents(db, [{ customerId: CUSTOMER_ID, after: 5n }]);
  await readEventContents(
    db,
    [...events.values()].flat().map(({ id }) => id),
  );
  await findMetrics(
    db,
    CUSTOMER_ID,
    CUSTOMER_ID.replace('c', 'e'),
    new Date(now.getTime() - 30 * 86_400_000),
  );
}
