/**
 * From the outbox to the queues. Events are written by whoever changed something, without a number and without a thought of
 * subscriptions; what is committed is numbered here and queued, in one transaction: killed anywhere, an event has either
 * both or neither.
 */
import { crashPoint } from '../../kernel/crash.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  fanOut,
  hasUnnumberedEvents,
  incrementCounters,
  lockFanOut,
  lockQueues,
  readUnnumberedEvents,
  type UnnumberedEvent,
} from '../../store/fan-out.ts';
import type { Service } from '../context.ts';

const EVENTS_MAX = 500;
/** In one transaction, so that the locks of subscriptions are not held for long; one event may be queued for more. */
const DELIVERIES_MAX = 5_000;

/** Numbers and queues the oldest events that are not; returns how many they were. 0: there are none. */
export async function fanOutEvents(service: Pick<Service, 'db' | 'clock'>): Promise<number> {
  // Whoever has nothing to do does not wait for whoever has.
  if (!(await hasUnnumberedEvents(service.db))) return 0;
  const done = await service.db.transaction(async (tx) => {
    await lockFanOut(tx);
    const events = await nextEvents(tx);
    if (events.length > 0) await fanOut(tx, await assignNumbers(tx, events), service.clock.now());
    crashPoint('fanout.written');
    return events.length;
  });
  crashPoint('fanout.committed');
  return done;
}

/** The oldest events, as many as are queued for no more than so many subscriptions together. */
async function nextEvents(tx: Sql): Promise<UnnumberedEvent[]> {
  const events = await readUnnumberedEvents(tx, EVENTS_MAX);
  const subscriptions = await lockQueues(tx, [...new Set(events.map((event) => event.customer_id))]);
  let capacity = DELIVERIES_MAX;
  const cutoff = events.findIndex(({ customer_id }) => {
    const full = capacity <= 0;
    capacity -= subscriptions.get(customer_id) ?? 0;
    return full;
  });
  return cutoff < 0 ? events : events.slice(0, cutoff);
}

async function assignNumbers(tx: Sql, events: readonly UnnumberedEvent[]) {
  const counts = new Map<string, number>();
  for (const { customer_id } of events) counts.set(customer_id, (counts.get(customer_id) ?? 0) + 1);
  const last = await incrementCounters(tx, counts);
  const next = new Map([...counts].map(([id, count]) => [id, (last.get(id) ?? 0n) - BigInt(count)]));
  return events.map((event) => {
    const seq = (next.get(event.customer_id) ?? 0n) + 1n;
    next.set(event.customer_id, seq);
    return { ...event, seq };
  });
}
