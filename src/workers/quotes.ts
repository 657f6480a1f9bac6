/**
 * Fetches exchange rates: each source at its own interval without waiting for another, and the euro source a
 * few times a day. Uses real time, because prices are current ones. One process at a time asks each source,
 * and stores the result for all.
 */
import type { Service } from '../domain/context.ts';
import { refreshEuro, refreshQuotes } from '../domain/rates/rates.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { EuroFeed, QuoteFeed } from '../ports/rates.ts';
import { leaseRecurringJob, scheduleNextRun } from '../store/tasks.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';

const EURO_INTERVAL_S = (6 * HOUR_MS) / SECOND_MS;
const EURO_RETRY_S = (15 * MINUTE_MS) / SECOND_MS;
/** Longer than the source's timeout. */
const EURO_LEASE_S = 30;
const EURO_CHECK_INTERVAL_MS = MINUTE_MS;

export interface QuoteSources {
  readonly feeds: readonly QuoteFeed[];
  readonly euro: EuroFeed | null;
}

type Deps = Pick<Service, 'db' | 'clock' | 'chains' | 'log'>;

export function quotesJob(service: Deps, { feeds, euro }: QuoteSources): Job {
  const stopping = new AbortController();
  const refreshes = [
    ...feeds.map((feed) => quoteRefresh(service, feed, stopping.signal)),
    ...(euro === null ? [] : [euroRefresh(service, euro, stopping.signal)]),
  ];
  const job = housekeepingJob('quotes', async () => {
    const results = await Promise.allSettled(refreshes.map((refresh) => refresh()));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return 0;
  });
  return { ...job, stop: async () => stopping.abort() };
}

type Refresh = () => Promise<void>;

function quoteRefresh(service: Deps, feed: QuoteFeed, signal: AbortSignal): Refresh {
  const reportFault = faultReporter(service, feed.source, signal);
  return atMostEvery(feed.intervalS * SECOND_MS, async () => {
    // A little less than the interval, so that our next run finds it due. The source's timeout is shorter.
    if (!(await leaseRecurringJob(service.db, `quotes ${feed.source}`, 0.9 * feed.intervalS))) return;
    reportFault(await refreshQuotes(service, feed, signal));
  });
}

function euroRefresh(service: Deps, feed: EuroFeed, signal: AbortSignal): Refresh {
  const reportFault = faultReporter(service, feed.source, signal);
  return atMostEvery(EURO_CHECK_INTERVAL_MS, async () => {
    if (!(await leaseRecurringJob(service.db, 'euro', EURO_LEASE_S))) return;
    const fault = await refreshEuro(service, feed, signal);
    await scheduleNextRun(service.db, 'euro', fault === null ? EURO_INTERVAL_S : EURO_RETRY_S);
    reportFault(fault);
  });
}

/** Logs a source's fault when it changes, not on every run. */
function faultReporter({ log }: Deps, source: string, signal: AbortSignal): (fault: string | null) => void {
  let lastFault: string | null = null;
  return (fault) => {
    if (fault === lastFault || signal.aborted) return;
    lastFault = fault;
    if (fault === null) log.info({ source }, 'price source has recovered');
    else log.warn({ source, fault }, 'price source is being skipped');
  };
}
