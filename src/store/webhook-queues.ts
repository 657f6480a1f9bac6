/**
 * The queues of subscriptions: one row each, which is what a sender leases. Deliveries have no lease of their own: whoever
 * holds the subscription's row sends what is due to it, so how many go out at once is his own count, and an endpoint
 * that does not answer keeps nothing but its own row.
 *
 * `due_at` is not later than that of the earliest delivery. Whoever queues one, takes them back, or lets go of the row has locked
 * it, and reads deliveries in a statement that begins after that: so nobody sets it later than what another has just queued.
 */
import type { Sql } from '../kernel/sql.ts';

export interface QueueClaim {
  readonly leaseId: string;
  readonly leaseS: number;
  /** Business time. */
  readonly now: Date;
  /** How many are taken at most of those that answer in good time, and of those that do not. */
  readonly quickMax: number;
  readonly slowMax: number;
}

export interface LeasedQueue {
  readonly webhook_id: string;
  readonly customer_id: string;
  readonly url: string;
  readonly active: boolean;
  readonly secret_sealed: string;
  readonly slow: boolean;
  readonly revision: bigint;
}

/**
 * Leases queues that are due, the longest due first. They are named to the update by where they lie: of a limit that it does
 * not know the planner expects a tenth of the table, and would read all of it; and a look into an index is saved.
 */
export async function claimQueues(tx: Sql, claim: QueueClaim): Promise<LeasedQueue[]> {
  return await tx.rows<LeasedQueue>(
    `with due as materialized (
       select picked.place
         from (values (false, $3::int), (true, $4::int)) as lane (slow, room)
        cross join lateral (
          select ctid as place from webhook_queues
           where slow = lane.slow and due_at <= $1 and (leased_until is null or leased_until <= clock_timestamp())
           order by due_at limit lane.room for update skip locked) as picked),
     claimed as (
       update webhook_queues
          set lease_id = $2, leased_until = clock_timestamp() + make_interval(secs => $5)
        where ctid = any(array(select place from due))
       returning webhook_id, slow, revision)
     select c.webhook_id, w.customer_id, w.url, w.active, w.secret_sealed, c.slow, c.revision
       from claimed c join webhooks w on w.id = c.webhook_id`,
    [claim.now, claim.leaseId, claim.quickMax, claim.slowMax, claim.leaseS],
  );
}

export interface DueDelivery {
  /** Of the attempt that waits, or of the failed one whose retry it is time for. */
  readonly id: string;
  readonly delivery_id: string;
  readonly event_id: string;
  readonly event_type: string;
  /** A ping's `data`, as JSON text; null where the event is a row of events. */
  readonly event_data: string | null;
  /** The last attempt that has a row. */
  readonly attempt: number;
  /** Whether it is still to be made; if not, it failed, and is to be made again. */
  readonly pending: boolean;
}

/** Which of the subscriptions it is for, from 1. */
type ReadDelivery = DueDelivery & { readonly place: number };

/** What is due to these subscriptions, so much of each at most; what the customer asked for himself comes first. */
export async function readDueDeliveries(
  tx: Sql,
  queues: readonly { readonly webhook_id: string; readonly limit: number }[],
  now: Date,
): Promise<Map<string, DueDelivery[]>> {
  const rows = await tx.rows<ReadDelivery>(
    `select q.place::int, d.id, d.delivery_id, d.event_id, d.event_type, d.event_data::text as event_data, d.attempt,
            d.status = 'pending' as pending
       from unnest($1::uuid[], $2::int[]) with ordinality as q (webhook_id, most, place)
      cross join lateral (
        (select * from deliveries
          where webhook_id = q.webhook_id and on_request and status = 'pending' and due_at <= $3
          order by due_at limit q.most)
        union all
        (select * from deliveries
          where webhook_id = q.webhook_id and due_at <= $3 and not (on_request and status = 'pending')
          order by due_at limit q.most)
        limit q.most) as d`,
    [queues.map((queue) => queue.webhook_id), queues.map((queue) => queue.limit), now],
  );
  const due = queues.map((): DueDelivery[] => []);
  for (const row of rows) due[row.place - 1]?.push(row);
  return new Map(queues.map((queue, n) => [queue.webhook_id, due[n] ?? []]));
}

/** Whether something is to be sent now, held or not. */
export async function hasDueQueues(tx: Sql, now: Date): Promise<boolean> {
  const next = await nextQueueDue(tx);
  return next !== null && next <= now;
}

/**
 * When the next one is due, held or not. Asks for the first of each lane in the order of the index: whether there is any that
 * is due, a planner that expects many would look for in the table.
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

/** Keeps those that are still ours. */
export async function extendQueues(tx: Sql, leases: readonly QueueLease[], leaseS: number): Promise<void> {
  await tx.run(
    `update webhook_queues q set leased_until = clock_timestamp() + make_interval(secs => $3)
       from unnest($1::uuid[], $2::uuid[]) as l (webhook_id, lease_id)
      where q.webhook_id = l.webhook_id and q.lease_id = l.lease_id`,
    [leases.map((lease) => lease.webhookId), leases.map((lease) => lease.leaseId), leaseS],
  );
}

/** Locks those whose lease is still the given one; returns their revisions by subscription. */
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

/** Ends leases. Who has more to be sent now goes to the end of the line. The caller holds the rows' locks. */
export async function releaseQueues(tx: Sql, queues: readonly QueueRelease[], now: Date): Promise<void> {
  await tx.run(
    `update webhook_queues q
        set lease_id = null, leased_until = null, slow = l.slow,
            due_at = case when l.first_due is not null then greatest(l.first_due, $3) end
       from (select one.webhook_id, one.slow,
                    (select min(due_at) from deliveries d
                      where d.webhook_id = one.webhook_id and d.due_at is not null) as first_due
               from unnest($1::uuid[], $2::bool[]) as one (webhook_id, slow)) as l
      where q.webhook_id = l.webhook_id`,
    [queues.map((queue) => queue.webhookId), queues.map((queue) => queue.slow), now],
  );
}

/** Something was queued: it is due now. */
export async function makeQueueDue(tx: Sql, webhookId: string, now: Date): Promise<void> {
  await tx.run('update webhook_queues set due_at = least(due_at, $2) where webhook_id = $1', [
    webhookId,
    now,
  ]);
}

/** Tells the holder that what it has read of the subscription holds no longer. */
export async function incrementQueueRevision(tx: Sql, webhookId: string): Promise<void> {
  await tx.run('update webhook_queues set revision = revision + 1 where webhook_id = $1', [webhookId]);
}
