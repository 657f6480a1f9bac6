/**
 * Fan-out: events that were committed are numbered and queued for subscriptions. One transaction does so at a time, in all
 * processes: numbers are given in the order of commits, so whoever sees one of a customer has seen those before it. Nothing
 * that writes an event waits for this lock.
 */
import type { Sql } from '../kernel/sql.ts';

/** Of the advisory lock that one fan-out holds. */
const FAN_OUT_LOCK = 7_355_614;

/** Waits until no other fan-out is under way; its own ends with the transaction. */
export async function holdFanOut(tx: Sql): Promise<void> {
  await tx.rows('select pg_advisory_xact_lock($1::bigint)', [FAN_OUT_LOCK]);
}

export async function hasUnnumberedEvents(tx: Sql): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>(
    'select exists (select from events where seq is null) as found',
  );
  return row?.found ?? false;
}

/** The oldest events without a number. */
export async function readUnnumbered(
  tx: Sql,
  limit: number,
): Promise<{ readonly id: string; readonly customer_id: string }[]> {
  return await tx.rows(
    'select id, customer_id from events where seq is null order by created_at, id limit $1',
    [limit],
  );
}

/**
 * Locks the queues of these customers' active subscriptions, so that none is paused, and none is let go by its sender,
 * until what is queued now can be seen. Returns how many each customer has; one who has none is left out.
 */
export async function lockQueues(tx: Sql, customerIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.rows<{ customer_id: string }>(
    `select w.customer_id from webhook_queues q join webhooks w on w.id = q.webhook_id
      where w.customer_id = any($1::uuid[]) and w.active order by q.webhook_id for no key update of q`,
    [customerIds],
  );
  const counts = new Map<string, number>();
  for (const { customer_id } of rows) counts.set(customer_id, (counts.get(customer_id) ?? 0) + 1);
  return counts;
}

/**
 * Numbers these events and queues a first attempt of each for every active subscription that wants its type. Returns how many
 * were queued.
 */
export async function fanOut(tx: Sql, eventIds: readonly string[], now: Date): Promise<number> {
  const row = await tx.row<{ queued: bigint }>(
    `with batch as materialized (
       select id, customer_id, type, row_number() over (partition by customer_id order by created_at, id) as place
         from events where id = any($1::uuid[]) and seq is null),
     sizes as (select customer_id, count(*) as size from batch group by customer_id),
     counters as (
       insert into event_counters as c (customer_id, last_seq) select customer_id, size from sizes
       on conflict (customer_id) do update set last_seq = c.last_seq + excluded.last_seq
       returning customer_id, last_seq),
     numbered as (
       update events e set seq = c.last_seq - s.size + b.place
         from batch b join counters c using (customer_id) join sizes s using (customer_id)
        where e.id = b.id),
     wanted as (
       select new_id($2) as id, w.id as webhook_id, b.customer_id, b.id as event_id, b.type
         from batch b join webhooks w on w.customer_id = b.customer_id
        where w.active and (w.events @> array['*'] or w.events @> array[b.type])),
     queued as (
       insert into deliveries (id, delivery_id, webhook_id, customer_id, event_id, event_type, attempt, status,
                               next_attempt_at, due_at, created_at)
       select id, id, webhook_id, customer_id, event_id, type, 1, 'pending', $2, $2, $2 from wanted
       returning webhook_id),
     due as (
       update webhook_queues q set due_at = least(q.due_at, $2)
        where q.webhook_id in (select webhook_id from queued))
     select count(*) as queued from queued`,
    [eventIds, now],
  );
  return Number(row?.queued ?? 0n);
}
