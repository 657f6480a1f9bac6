/** Polls for the streams of signed-in customers: numbered events, and work that moved in between. */

import type { Sql } from '../../kernel/sql.ts';
import type { ActionResource } from '../../spec/action-commands.ts';
import type { SessionCutoffs } from '../customers/sessions.ts';

/** A running action, a payment that awaits confirmations, or a webhook that was just sent to. */
export interface MovingRow {
  readonly id: string;
  readonly kind: ActionResource | 'topup' | 'webhook';
  /** The resource of an action. The others are their own. */
  readonly resource_id: string;
  readonly server_id: string | null;
  /** Differs whenever it moved. */
  readonly mark: number;
}

export interface SessionReaderRow {
  readonly session_id: string;
  /** Neither ended nor expired, and its customer is not being deleted. */
  readonly lives: boolean;
  readonly last_seq: bigint;
  /** Null: nothing moves. */
  readonly moving: readonly MovingRow[] | null;
}

/** Longer than a poll may be late. Nothing else depends on the time that a delivery ended. */
const SENT_S = 10;

/**
 * Reads the state of these sessions, given the latest number that each one knows. Returns only those with
 * newer events or something that moves, and those that are no longer valid.
 */
export async function pollSessions(
  sql: Sql,
  known: ReadonlyMap<string, bigint>,
  { createdAfter, seenAfter }: SessionCutoffs,
): Promise<SessionReaderRow[]> {
  return await sql.rows<SessionReaderRow>(
    `select k.session_id, s.id is not null as lives, coalesce(e.last_seq, 0) as last_seq, m.moving
       from unnest($1::uuid[], $2::bigint[]) as k (session_id, last_seq)
       left join (sessions s join customers c on c.id = s.customer_id and c.deleting_at is null)
         on s.id = k.session_id and s.created_at > $3 and s.seen_at > $4
       left join event_counters e on e.customer_id = s.customer_id
       left join lateral (
         select json_agg(moving) as moving from (
           select id, resource_kind as kind, resource_id, server_id,
                  cardinality(step_times) * 1000 + progress as mark
             from actions where customer_id = s.customer_id and status = 'running'
           union all
           select id, 'topup', id, null, confirmations
             from topups where customer_id = s.customer_id and status = 'confirming'
           union all
           select w.id, 'webhook', w.id, null, (extract(epoch from q.leased_until) * 1000)::bigint
             from webhooks w join webhook_queues q on q.webhook_id = w.id
            where w.customer_id = s.customer_id and q.lease_id is null
              and q.leased_until > clock_timestamp() - make_interval(secs => ${SENT_S})) moving) m on true
      where s.id is null or e.last_seq > k.last_seq or m.moving is not null`,
    [[...known.keys()], [...known.values()], createdAfter, seenAfter],
  );
}
