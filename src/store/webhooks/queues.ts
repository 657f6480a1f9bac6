/**
 * Webhook queues: one row per webhook, which a sender leases. Deliveries have no lease of their own: the
 * leaseholder sends everything due to the webhook, so it controls its own concurrency, and an unresponsive
 * endpoint blocks nothing but its own row.
 *
 * `due_at` is never later than the earliest delivery. Queueing or canceling deliveries, and releasing the
 * row, all lock the row first and then read deliveries in a new statement, so that none sets `due_at` past a
 * delivery that was just queued.
 */
import type { Sql } from '../../kernel/sql.ts';

export interface QueueClaim {
  readonly leaseId: string;
  readonly leaseS: number;
  /** Business time. */
  readonly now: Date;
  /** The maximum number of queues of responsive endpoints, and of slow ones. */
  readonly quickMax: number;
  readonly slowMax: number;
}

export interface LeasedQueue {
  readonly webhook_id: string;
  readonly customer_id: string;
  readonly url: string;
  readonly active: boolean;
  readonly secret_sealed: string;
  /** Signs, too, while the secret is rotated. */
  readonly next_secret_sealed: string | null;
  readonly slow: boolean;
  readonly revision: bigint;
}

/**
 * Leases due queues, longest due first. The update selects them by `ctid`: for a computed limit the planner
 * assumes a tenth of the table and would scan all of it, and an index lookup is saved.
 */
export async function claimQueues(tx: Sql, claim: QueueClaim): Promise<LeasedQueue[]> {
  return await tx.rows<LeasedQueue>(
    `with due as materialized (
       select picked.row_ctid
         from (values (false, $3::int), (true, $4::int)) as lane (slow, max_rows)
        cross join lateral (
          select ctid as row_ctid from webhook_queues
           where slow = lane.slow and due_at <= $1
             and (leased_until is null or leased_until <= clock_timestamp())
           order by due_at limit lane.max_rows for update skip locked) as picked),
     claimed as (
       update webhook_queues
          set lease_id = $2, leased_until = clock_timestamp() + make_interval(secs => $5)
        where ctid = any(array(select row_ctid from due))
       returning webhook_id, slow, revision)
     select c.webhook_id, w.customer_id, w.url, w.active, w.secret_sealed,
            w.next_secret_sealed, c.slow, c.revision
       from claimed c join webhooks w on w.id = c.webhook_id`,
    [claim.now, claim.leaseId, claim.quickMax, claim.slowMax, claim.leaseS],
  );
}

export interface DueDelivery {
  /** The id of the pending attempt, or of the failed attempt that is due for a retry. */
  readonly id: string;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_type: string;
  /** A ping's `data` as JSON text; null if the event is a row of events. */
  readonly event_data: string | null;
  /** The number of the attempt in this row. */
  readonly attempt: number;
  /** Whether this attempt is still to be made. If not, it failed and is to be retried. */
  readonly pending: boolean;
}

/** `place` is the position of the webhook in the request, from 1. */
type ReadDelivery = DueDelivery & { readonly place: number };

/**
 * Reads the due deliveries of these webhooks, each up to its limit. Those requested by the customer come
 * first.
 */
export async function readDueDeliveries(
  tx: Sql,
  queues: readonly { readonly webhook_id: string; readonly limit: number }[],
  now: Date,
): Promise<Map<string, DueDelivery[]>> {
  const rows = await tx.rows<ReadDelivery>(
    `select q.place::int, d.id, d.delivery_id, d.event_id, d.event_type, d.event_data::text as event_data,
            d.attempt, d.status = 'pending' as pending
       from unnest($1::uuid[], $2::int[]) with ordinality as q (webhook_id, max_rows, place)
      cross join lateral (
        (select * from deliveries
          where webhook_id = q.webhook_id and on_request and status = 'pending' and due_at <= $3
          order by due_at limit q.max_rows)
        union all
        (select * from deliveries
          where webhook_id = q.webhook_id and due_at <= $3 and not (on_request and status = 'pending')
          order by due_at limit q.max_rows)
        limit q.max_rows) as d`,
    [queues.map((queue) => queue.webhook_id), queues.map((queue) => queue.limit), now],
  );
  const due = queues.map((): DueDelivery[] => []);
  for (const row of rows) due[row.place - 1]?.push(row);
  return new Map(queues.map((queue, n) => [queue.webhook_id, due[n] ?? []]));
}

/** Whether a delivery is due now, leased or not. */
export async function hasDueQueues(tx: Sql, now: Date): Promise<boolean> {
  const next = await nextQueueDue(tx);
  return next !== null && next <= now;
}

/**
 * Returns when the next queue is due, leased or not. Selects the first row of each lane in index order: for
 * `exists`, a planner that expects many rows may scan the table.
 */
export async function nextQueueDue(tx: Sql): Promise<Date | null> {
  const first = (lane: string) =>
    `(select due_at from webhook_queues where ${lane} and due_at is not null order by due_at limit 1)`;
  const row = await tx.row<{ due_at: Date | null }>(
    `select least(${first('not slow')}, ${first('slow')}) as due_at`,
  );
  return row?.due_at ?? null;
}

export interface QueueLease {
  readonly webhookId: string;
  readonly leaseId: string;
}

/** Extends the leases that are still valid. */
export async function extendQueues(tx: Sql, leases: readonly QueueLease[], leaseS: number): Promise<void> {
  await tx.run(
    `update webhook_queues q set leased_until = clock_timestamp() + make_interval(secs => $3)
       from unnest($1::uuid[], $2::uuid[]) as l (webhook_id, lease_id)
      where q.webhook_id = l.webhook_id and q.lease_id = l.lease_id`,
    [leases.map((lease) => lease.webhookId), leases.map((lease) => lease.leaseId), leaseS],
  );
}

/** Locks the queues whose lease is still the given one. Returns their revisions by webhook. */
export async function lockLeasedQueues(tx: Sql, leases: readonly QueueLease[]): Promise<Map<string, bigint>> {
  const rows = await tx.rows<{ webhook_id: string; revision: bigint }>(
    `select q.webhook_id, q.revision
       from unnest($1::uuid[], $2::uuid[]) as l (webhook_id, lease_id)
       join webhook_queues q on q.webhook_id = l.webhook_id and q.lease_id = l.lease_id
      order by q.webhook_id for no key update of q`,
    [leases.map((lease) => lease.webhookId), leases.map((lease) => lease.leaseId)],
  );
  return new Map(rows.map((row) => [row.webhook_id, row.revision]));
}

export interface QueueRelease {
  readonly webhookId: string;
  readonly slow: boolean;
}

/**
 * Releases leases. A queue with more due deliveries moves behind the others. The caller holds the rows'
 * locks. Without a lease, `leased_until` is when the last batch was recorded: the panel's streams read it.
 */
export async function releaseQueues(tx: Sql, queues: readonly QueueRelease[], now: Date): Promise<void> {
  await tx.run(
    `update webhook_queues q
        set lease_id = null, leased_until = clock_timestamp(), slow = r.slow,
            due_at = case when r.first_due is not null then greatest(r.first_due, $3) end
       from (select released.webhook_id, released.slow,
                    (select min(due_at) from deliveries d
                      where d.webhook_id = released.webhook_id and d.due_at is not null) as first_due
               from unnest($1::uuid[], $2::bool[]) as released (webhook_id, slow)) as r
      where q.webhook_id = r.webhook_id`,
    [queues.map((queue) => queue.webhookId), queues.map((queue) => queue.slow), now],
  );
}

/** Makes the queue due now, after a delivery was queued. */
export async function makeQueueDue(tx: Sql, webhookId: string, now: Date): Promise<void> {
  await tx.run('update webhook_queues set due_at = least(due_at, $2) where webhook_id = $1', [
    webhookId,
    now,
  ]);
}

/** Tells the leaseholder that the webhook changed since it was read. */
export async function incrementQueueRevision(tx: Sql, webhookId: string): Promise<void> {
  await tx.run('update webhook_queues set revision = revision + 1 where webhook_id = $1', [webhookId]);
}
