/**
 * Fan-out: events that were committed are numbered and queued for subscriptions. One transaction does so at a time, in all
 * processes: numbers are given in the order of commits, so whoever sees one of a customer has seen those before it. Nothing
 * that writes an event waits for this lock.
 */
import type { Sql } from '../kernel/sql.ts';

/** Of the advisory lock that one fan-out holds. */
const FAN_OUT_LOCK = 7_355_614;

/** Waits until no other fan-out is under way; its own ends with the transaction. */
export async function lockFanOut(tx: Sql): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock($1::bigint)', [FAN_OUT_LOCK]);
}

/** Asks for the first in the order of the index: a planner that expects many would look for any of them in the table. */
export async function hasUnnumberedEvents(tx: Sql): Promise<boolean> {
  const row = await tx.row('select place from events where seq is null order by place limit 1');
  return row !== undefined;
}

export interface UnnumberedEvent {
  readonly id: string;
  readonly customer_id: string;
  readonly type: string;
}

/** The oldest events without a number, in the order in which they were written. */
export async function readUnnumberedEvents(tx: Sql, limit: number): Promise<UnnumberedEvent[]> {
  return await tx.rows<UnnumberedEvent>(
    'select id, customer_id, type from events where seq is null order by place limit $1',
    [limit],
  );
}

/** Raises the customers' counters by so much each; returns how far each has come. */
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

/**
 * Locks the queues of these customers' subscriptions, so that none is paused, and none is let go by its sender, until what is
 * queued now can be seen. Returns how many each customer has; one who has none is left out.
 */
export async function lockQueues(tx: Sql, customerIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.rows<{ customer_id: string }>(
    `select w.customer_id from webhook_queues q join webhooks w on w.id = q.webhook_id
      where w.customer_id = any($1::uuid[]) order by q.webhook_id for no key update of q`,
    [customerIds],
  );
  const counts = new Map<string, number>();
  for (const { customer_id } of rows) counts.set(customer_id, (counts.get(customer_id) ?? 0) + 1);
  return counts;
}

/** Numbers these events and queues a first attempt of each for every active subscription that wants its type. */
export async function fanOut(
  tx: Sql,
  events: readonly (UnnumberedEvent & { readonly seq: bigint })[],
  now: Date,
): Promise<void> {
  await tx.run(
    `with batch as materialized (
       select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[]) as e (id, customer_id, type, seq)),
     numbered as (
       update events e set seq = b.seq from batch b where e.id = b.id),
     wanted as (
       select new_id($5) as id, w.id as webhook_id, b.customer_id, b.id as event_id, b.type
         from batch b join webhooks w on w.customer_id = b.customer_id
        where w.active and (w.events @> array['*'] or w.events @> array[b.type])
        -- Neighbours in the indexes are written one after another.
        order by w.id),
     queued as (
       insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, attempt, status,
                               next_attempt_at, due_at, created_at)
       select id, id, webhook_id, customer_id, event_id, type, 1, 'pending', $5, $5, $5 from wanted
       returning webhook_id)
     update webhook_queues set due_at = $5
      where webhook_id = any(array(select distinct webhook_id from queued)) and (due_at is null or due_at > $5)`,
    [
      events.map((event) => event.id),
      events.map((event) => event.customer_id),
      events.map((event) => event.type),
      events.map((event) => event.seq),
      now,
    ],
  );
}
