/**
 * Moves events from the outbox to the delivery queues. A change writes its event without a number and
 * without regard to subscriptions. After the commit, the event is numbered and queued here in one
 * transaction, so a crash leaves an event with either both or neither.
 */
import type { Sql } from '../../kernel/sql.ts';
import { isEventInside } from '../../spec/token-limits.ts';
import { readEventContents } from '../../store/events/events.ts';
import {
  fanOut,
  type HiddenEvent,
  hasUnnumberedEvents,
  incrementCounters,
  lockFanOut,
  lockQueues,
  readUnnumberedEvents,
  type SubscriberRow,
  type UnnumberedEvent,
} from '../../store/events/fan-out.ts';
import type { Service } from '../context.ts';

const EVENTS_MAX = 500;
/** Per transaction, so that the locks of subscriptions are short. A single event may exceed it. */
const DELIVERIES_MAX = 5_000;

/** Numbers and queues the oldest new events and returns their number; 0 if there are none. */
export async function fanOutEvents(service: Pick<Service, 'db' | 'clock'>): Promise<number> {
  // Without work, do not wait for the lock of a process that has some.
  if (!(await hasUnnumberedEvents(service.db))) return 0;
  return await service.db.transaction(async (tx) => {
    await lockFanOut(tx);
    const { events, subscribers } = await nextEvents(tx);
    if (events.length === 0) return 0;
    const hidden = await findHidden(tx, events, subscribers);
    await fanOut(tx, await assignNumbers(tx, events), hidden, service.clock.now());
    return events.length;
  });
}

/** Returns the oldest events within the bound on queued deliveries. */
async function nextEvents(
  tx: Sql,
): Promise<{ events: UnnumberedEvent[]; subscribers: readonly SubscriberRow[] }> {
  const events = await readUnnumberedEvents(tx, EVENTS_MAX);
  const subscribers = await lockQueues(tx, [...new Set(events.map((event) => event.customer_id))]);
  const subscriptions = new Map<string, number>();
  for (const { customer_id: id } of subscribers) subscriptions.set(id, (subscriptions.get(id) ?? 0) + 1);
  let capacity = DELIVERIES_MAX;
  const cutoff = events.findIndex(({ customer_id }) => {
    const full = capacity <= 0;
    capacity -= subscriptions.get(customer_id) ?? 0;
    return full;
  });
  return { events: cutoff < 0 ? events : events.slice(0, cutoff), subscribers };
}

/** Finds the events that the webhooks of limited tokens do not receive. */
async function findHidden(
  tx: Sql,
  events: readonly UnnumberedEvent[],
  subscribers: readonly SubscriberRow[],
): Promise<HiddenEvent[]> {
  const limited = subscribers.filter(({ reach }) => reach !== null);
  if (limited.length === 0) return [];
  const customers = new Set(limited.map(({ customer_id }) => customer_id));
  const concerned = events.filter(({ customer_id }) => customers.has(customer_id));
  const contents = await readEventContents(
    tx,
    concerned.map(({ id }) => id),
  );
  return limited.flatMap(({ webhook_id, customer_id, reach }) => {
    const own = concerned.filter((event) => event.customer_id === customer_id);
    return own
      .filter(({ id }) => !reach || !isEventInside(reach, JSON.parse(contents.get(id)?.data ?? '{}')))
      .map(({ id }) => ({ webhook_id, event_id: id }));
  });
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
