/**
 * Asks the sources of prices, each at its own pace and none waiting for another, and the source of the euro a few times a day. In
 * real time: prices are of now. Among several processes one asks each at a time; what it says is kept for all.
 */
import type { Service } from '../domain/context.ts';
import { refreshEuro, refreshQuotes } from '../domain/quotes.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { EuroFeed, QuoteFeed } from '../ports/rates.ts';
import { setBeat, takeBeat } from '../store/beats.ts';
import type { Duty } from './duty.ts';

const EURO_EVERY_S = (6 * HOUR_MS) / SECOND_MS;
const EURO_AGAIN_S = (15 * MINUTE_MS) / SECOND_MS;
/** Longer than a source has for its answer. */
const EURO_LEASE_S = 30;
const EURO_LOOK_MS = MINUTE_MS;

export interface Asked {
  readonly feeds: readonly QuoteFeed[];
  readonly euro: EuroFeed;
}

type Work = Pick<Service, 'db' | 'clock' | 'chains' | 'log'>;

export function quotesDuty(service: Work, { feeds, euro }: Asked): Duty {
  const stopping = new AbortController();
  const rounds = [
    ...feeds.map((feed) => quoteRound(service, feed, stopping.signal)),
    euroRound(service, euro, stopping.signal),
  ];
  return {
    name: 'quotes',
    housekeeping: true,
    run: async () => {
      const done = await Promise.allSettled(rounds.map((round) => round()));
      const failed = done.find((one) => one.status === 'rejected');
      if (failed) throw failed.reason;
      return 0;
    },
    nextDue: async () => null,
    busy: async () => false,
    stop: async () => stopping.abort(),
  };
}

type Round = () => Promise<void>;

function quoteRound(service: Work, feed: QuoteFeed, signal: AbortSignal): Round {
  const tell = teller(service, feed.source, signal);
  return paced(feed.everyS * SECOND_MS, async () => {
    // A little less than a round, so that our own next one finds it due. Its time for an answer is far shorter.
    if (!(await takeBeat(service.db, `quotes ${feed.source}`, 0.9 * feed.everyS))) return;
    tell(await refreshQuotes(service, feed, signal));
  });
}

function euroRound(service: Work, feed: EuroFeed, signal: AbortSignal): Round {
  const tell = teller(service, feed.source, signal);
  return paced(EURO_LOOK_MS, async () => {
    if (!(await takeBeat(service.db, 'euro', EURO_LEASE_S))) return;
    const fault = await refreshEuro(service, feed, signal);
    await setBeat(service.db, 'euro', fault === null ? EURO_EVERY_S : EURO_AGAIN_S);
    tell(fault);
  });
}

/** At most once in that time, as this process counts it. */
function paced(everyMs: number, work: Round): Round {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() < nextAt) return;
    nextAt = performance.now() + everyMs;
    await work();
  };
}

/** Says it when something changes, and not each time. */
function teller({ log }: Work, source: string, signal: AbortSignal): (fault: string | null) => void {
  let known: string | null = null;
  return (fault) => {
    if (fault === known || signal.aborted) return;
    known = fault;
    if (fault === null) log.info({ source }, 'a source of prices is whole again');
    else log.warn({ source, fault }, 'a source of prices is passed over');
  };
}
