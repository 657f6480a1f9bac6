/** Every published event has one delivery, under one id, and nothing else arrived. */

import { formatId } from '../../../src/kernel/ids.ts';
import { LIMITS } from '../../../src/spec/limits.ts';
import type { OpenDatabase } from '../../../src/store/db.ts';
import type { ReceivedRequest } from '../../support/webhook-receiver.ts';
import type { Problem } from './problem.ts';

interface WebhookRow {
  readonly id: string;
  readonly customer_id: string;
  readonly active_since: Date;
}

interface EventRow {
  readonly id: string;
  readonly customer_id: string;
  readonly created_at: Date;
  readonly seq: bigint | null;
  readonly deliveries: bigint;
  readonly delivered: bigint;
  readonly pending: bigint;
  readonly failed: bigint;
  /** Deliveries of its time are deleted by now. */
  readonly expired: boolean;
  /** It happened while a webhook of its customer was active. */
  readonly published: boolean;
}

export interface DeliveryFigures {
  published: number;
  delivered: number;
  pending: number;
  givenUp: number;
  repeated: number;
}

export class Deliveries {
  readonly figures: DeliveryFigures = { published: 0, delivered: 0, pending: 0, givenUp: 0, repeated: 0 };
  /** The delivery and the body of each event that arrived. */
  readonly #arrived = new Map<string, { readonly delivery: string; readonly body: string }>();
  /** The events whose delivery had ended at an earlier comparison. */
  readonly #ended = new Set<string>();

  /** Takes what the receiver got. */
  take(received: ReceivedRequest[]): Problem[] {
    const problems: Problem[] = [];
    for (const { headers, body } of received.splice(0)) {
      const { id } = JSON.parse(body);
      const delivery = String(headers['x-service-delivery-id']);
      const first = this.#arrived.get(id);
      if (first === undefined) this.#arrived.set(id, { delivery, body });
      else if (first.delivery !== delivery || first.body !== body)
        problems.push({ kind: 'doubled', text: `event ${id} arrived twice, and not the same` });
      else this.figures.repeated += 1;
    }
    return problems;
  }

  /** `webhooks`: the acknowledged ones, which take every event. `isLast`: no delivery is still due. */
  async compare(db: OpenDatabase, webhooks: readonly string[], isLast: boolean): Promise<Problem[]> {
    const hooks = await db.rows<WebhookRow>('select id, customer_id, active_since from webhooks');
    const found = await db.rows<Omit<EventRow, 'published'>>(
      `select e.id, e.customer_id, e.created_at, e.seq,
         count(distinct d.delivery_id) as deliveries,
         count(distinct d.delivery_id) filter (where d.status = 'delivered') as delivered,
         count(distinct d.delivery_id) filter (where d.status = 'pending') as pending,
         count(distinct d.delivery_id) filter (where d.status in ('failed', 'cancelled')) as failed,
         e.created_at < clock_timestamp() + (select clock_offset_ms from service) * interval '1 ms'
           - interval '${LIMITS.deliveryRetentionDays} days' as expired
       from events e left join deliveries d on d.event_id = e.id
       group by e.id, e.customer_id, e.created_at, e.seq`,
    );
    const rows = found.map((row): EventRow => {
      const own = hooks.filter(({ customer_id }) => customer_id === row.customer_id);
      return { ...row, published: own.some(({ active_since }) => active_since <= row.created_at) };
    });
    const count = (test: (row: EventRow) => boolean) => rows.filter(test).length;
    this.figures.published = count((row) => row.published && !isDeleted(row));
    this.figures.delivered = count(({ delivered }) => delivered > 0n);
    this.figures.pending = count(({ pending }) => pending > 0n);
    this.figures.givenUp = count(
      ({ delivered, pending, failed }) => failed > 0n && delivered + pending === 0n,
    );
    const known = new Set(hooks.map(({ id }) => formatId('webhook', id)));
    return [
      ...webhooks
        .filter((id) => !known.has(id))
        .map((id): Problem => ({ kind: 'lost', text: `webhook ${id} is missing` })),
      ...rows.flatMap((row) => this.#compareEvent(row, isLast)),
    ];
  }

  #compareEvent({ id, seq, published, ...row }: EventRow, isLast: boolean): Problem[] {
    const shown = formatId('event', id);
    if (seq === null) return [{ kind: 'stuck', text: `event ${shown} has no number` }];
    const mayBeDeleted = isDeleted(row) && (this.#ended.has(shown) || this.#arrived.has(shown));
    if (published && row.deliveries === 0n && !mayBeDeleted)
      return [{ kind: 'lost', text: `event ${shown} has no delivery` }];
    if (row.deliveries > 0n && row.pending === 0n) this.#ended.add(shown);
    if (row.deliveries > 1n)
      return [{ kind: 'doubled', text: `event ${shown} has ${row.deliveries} deliveries` }];
    if (row.delivered > 0n && !this.#arrived.has(shown))
      return [{ kind: 'lost', text: `event ${shown} is delivered, and did not arrive` }];
    if (isLast && row.pending > 0n) return [{ kind: 'stuck', text: `event ${shown} is still pending` }];
    return [];
  }
}

function isDeleted({ deliveries, expired }: Pick<EventRow, 'deliveries' | 'expired'>): boolean {
  return deliveries === 0n && expired;
}
