/**
 * Links audit rows after their commit, and records the head of each day. Every hour, and at the start, it
 * goes through the whole log: rows of earlier versions have no links, and a commit may have been very late.
 */
import { FIRST_AUDIT_ID, linkAuditRows, readRecentBound } from '../domain/audit/chain.ts';
import { recordDailyHead } from '../domain/audit/heads.ts';
import type { Service } from '../domain/context.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import { atMostEvery, type Job } from './job.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';

const BATCHES_PER_RUN = 10;

/** `spacingMs`: the real time between the starts of two rounds. Every commit of the service wakes the job. */
export function auditChainJob(service: Service, { spacingMs = SECOND_MS } = {}): Job {
  return roundsJob('audit-chain', chainRounds(service, spacingMs), BATCHES_PER_RUN);
}

async function* chainRounds(service: Service, spacingMs: number): Rounds {
  const recordHead = atMostEvery(MINUTE_MS, async () => {
    await recordDailyHead(service);
  });
  for (let after = FIRST_AUDIT_ID; ; after = FIRST_AUDIT_ID) {
    const fullAgainAt = performance.now() + HOUR_MS;
    while (performance.now() < fullAgainAt) {
      const nextAt = performance.now() + spacingMs;
      yield* untilFailure(linkRound(service, after, recordHead));
      do yield null;
      while (performance.now() < nextAt);
      after = await readRecentBound(service).catch(() => after);
    }
  }
}

async function* linkRound(
  service: Service,
  after: string,
  recordHead: () => Promise<void>,
): AsyncGenerator<number> {
  yield* linkAuditRows(service, after);
  await recordHead();
}
