/**
 * Fan-out numbers committed events and queues their deliveries. One transaction does so at a time, across all
 * processes: numbers follow the order of commits, so a client that sees one event of a customer has seen all
 * before it. Inserting an event never waits for this lock.
 */
import type { Sql } from '../../kernel/sql.ts';
import { MONEY_EVENTS } from '../../spec/events.ts';
import type { Reach } from '../../spec/token-limits.ts';

/** The key of the advisory lock. */
const FAN_OUT_LOCK = 7_355_614;

/** Waits until no other fan-out is running. The lock is held until the transaction ends. */
export async function lockFanOut(tx: Sql): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock($1::bigint)', [FAN_OUT_LOCK]);
}

/**
 * Selects the first row in index order: for `exists`, a planner that expects many rows may scan the table.
 */
export async function hasUnnumberedEvents(tx: Sql): Promise<boolean> {
  const row = await tx.row('select place from events where seq is null order by place limit 1');
  return row !== undefined;
}

export interface UnnumberedEvent {
  readonly id: string;
  readonly customer_id: string;
  readonly type: string;
}

/** Reads the oldest events without a number, in the order in which they were inserted. */
export async function readUnnumberedEvents(tx: Sql, limit: number): Promise<UnnumberedEvent[]> {
  return await tx.rows<UnnumberedEvent>(
    'select id, customer_id, type from events where seq is null order by place limit $1',
    [limit],
  );
}

/** Increments the customers' counters. Returns the new value of each. */
export async function incrementCounters(
  tx: Sql,
  counts: ReadonlyMap<string, number>,
): Promise<Map<string, bigint>> {
  const rows = await tx.rows<{ customer_id: string; last_seq: bigint }>(
    `insert into event_counters as c (customer_id, last_seq) select * from unnest($1::uuid[], $2::bigint[])
     on conflict (customer_id) do update set last_seq = c.last_seq + excluded.last_seq
     returning customer_id, last_seq`,
    [[...counts.keys()], [...counts.values()]],
  );
  return new Map(rows.map((row) => [row.customer_id, row.last_seq]));
}

export interface SubscriberRow {
  readonly customer_id: string;
  readonly webhook_id: string;
  /** The resources whose events it receives; null: all. */
  readonly reach: Reach | null;
}

/**
 * Locks the queues of these customers' webhooks, so that no webhook is paused and no sender releases its
 * lease before the deliveries queued here are visible. Returns the webhooks.
 */
export async function lockQueues(tx: Sql, customerIds: readonly string[]): Promise<SubscriberRow[]> {
  return await tx.rows<SubscriberRow>(
    `select w.customer_id, w.id as webhook_id, w.reach
       from webhook_queues q join webhooks w on w.id = q.webhook_id
      where w.customer_id = any($1::uuid[]) order by q.webhook_id for no key update of q`,
    [customerIds],
  );
}

/** An event that the webhook of a limited token does not receive. */
export interface HiddenEvent {
  readonly webhook_id: string;
  readonly event_id: string;
}

/**
 * Numbers these events and queues a first attempt for every webhook that is active, was active when the event
 * happened, and is subscribed to its type.
 */
export async function fanOut(
  tx: Sql,
  events: readonly (UnnumberedEvent & { readonly seq: bigint })[],
  hidden: readonly HiddenEvent[],
  now: Date,
): Promise<void> {
  await tx.run(
    `with batch as materialized (
       select * from unnest($events.id::uuid[], $events.customer_id::uuid[], $events.type::text[],
                            $events.seq::bigint[])
         as e (id, customer_id, type, seq)),
     numbered as (
       update events e set seq = b.seq from batch b where e.id = b.id
       returning e.id, e.customer_id, e.type, e.created_at),
     subscribed as (
       select new_id($now) as id, w.id as webhook_id, n.customer_id, n.id as event_id, n.type
         from numbered n join webhooks w on w.customer_id = n.customer_id
        where w.active and w.active_since <= n.created_at
          and (w.events @> array['*'] or w.events @> array[n.type])
          and (w.scope = 'billing' or n.type <> all($moneyEvents::text[]))
          and (w.reach is null or not exists (
                 select from unnest($hidden.webhook_id::uuid[], $hidden.event_id::uuid[])
                   as hidden (webhook_id, event_id)
                  where hidden.webhook_id = w.id and hidden.event_id = n.id))
        -- Rows adjacent in the indexes are inserted together.
        order by w.id),
     queued as (
       insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, attempt,
                               status, next_attempt_at, due_at, created_at)
       select id, id, webhook_id, customer_id, event_id, type, 1, 'pending', $now, $now, $now from subscribed
       returning webhook_id)
     update webhook_queues set due_at = $now
      where webhook_id = any(array(select distinct webhook_id from queued))
        and (due_at is null or due_at > $now)`,
    { events, hidden, now, moneyEvents: MONEY_EVENTS },
  );
}
