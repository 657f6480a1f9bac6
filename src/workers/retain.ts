/**
 * Closes tickets in which no one writes, and purges expired data (domain/upkeep/retention.ts). A round
 * through all rules starts ten minutes after the previous one ended, and continues in small batches. It plans
 * no due dates, so the sandbox's clock never stops for it. When that clock races through a year, a round
 * starts once a second at most.
 */
import { trimAuditChain } from '../domain/audit/chain.ts';
import { isTimeInDoubt } from '../domain/billing/leap.ts';
import type { Service } from '../domain/context.ts';
import { closeIdleTickets } from '../domain/customers/tickets/idle.ts';
import { tendPartitions } from '../domain/upkeep/partitions.ts';
import { purgeExpired, RETENTION_NAMES } from '../domain/upkeep/retention.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

/**
 * Business time between the end of a round and the next one, and real time between the starts of two rounds.
 */
const ROUND_INTERVAL_MS = 10 * MINUTE_MS;
const ROUND_START_SPACING_MS = SECOND_MS;
/** A round that finds nothing takes one run. */
const BATCHES_PER_RUN = 2 * RETENTION_NAMES.length;

export function retainJob(service: Service): Job {
  return roundsJob('retain', purgeRounds(service), BATCHES_PER_RUN);
}

async function* purgeRounds(service: Service): Rounds {
  for (;;) {
    const startedAtMs = performance.now();
    // A rule that fails does not block the others.
    for (const batches of purgesOf(service)) yield* untilFailure(batches);
    const nextAt = service.clock.now().getTime() + ROUND_INTERVAL_MS;
    const isResting = () =>
      service.clock.now().getTime() < nextAt || performance.now() - startedAtMs < ROUND_START_SPACING_MS;
    while (isResting()) yield null;
  }
}

function* purgesOf(service: Service): Generator<AsyncGenerator<number>> {
  yield closeIdleTickets(service);
  yield tendPartitions(service);
  for (const rule of RETENTION_NAMES) yield unlessInDoubt(service, purgeExpired(service, rule));
  // A link goes after its row.
  yield unlessInDoubt(service, trimAuditChain(service));
}

async function* unlessInDoubt(service: Service, batches: AsyncGenerator<number>): AsyncGenerator<number> {
  if (!(await isTimeInDoubt(service))) yield* batches;
}
