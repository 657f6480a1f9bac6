/** All customers' top-ups as the operator sees them. */
import type { Sql } from '../../kernel/sql.ts';
import type { Quote } from '../../ports/rates.ts';
import { COIN_CODES, type CoinCode } from '../../spec/coins.ts';
import type { TopupNote } from '../../spec/staff/payments.ts';
import type { TopupStatus } from '../../spec/states.ts';
import { conditionsFor } from '../parameters.ts';

export interface OperatorTopupRow {
  readonly id: string;
  readonly order_ref: string;
  readonly email: string;
  readonly coin: CoinCode;
  readonly status: TopupStatus;
  readonly cancelled_at: Date | null;
  readonly amount_cents: bigint;
  readonly rate_usd: string;
  /** The quotes that rate was computed from. */
  readonly quotes: readonly Quote[];
  readonly deposit_address: string;
  /** In the coin's smallest unit, like the sums below. */
  readonly deposit_units: string;
  /** In a block or in the mempool. */
  readonly received_units: string;
  readonly withheld_units: string;
  /** Refunded, sent or not. */
  readonly refunded_units: string;
  /** The part of it that is approved and has no transaction recorded. */
  readonly unsent_units: string;
  readonly credited_cents: bigint;
  readonly bonus_paid_cents: bigint;
  /** Taken back and not credited again; `reversed_at` is null if nothing was. */
  readonly reversed_cents: bigint;
  readonly reversed_at: Date | null;
  readonly expires_at: Date;
  readonly created_at: Date;
}

const FROM = `topups t
  join customers c on c.id = t.customer_id
  cross join lateral (
    select coalesce(sum(amount_units) filter (where state not in ('removed', 'conflicted')), 0) as received,
           coalesce(sum(amount_units) filter (where held and state in ('included', 'final')), 0) as held,
           coalesce(sum(amount_units) filter (where refunded_at is not null), 0) as refunded,
           coalesce(sum(amount_units) filter (
             where refund_address is not null and refund_txid is null), 0) as unsent
      from deposits where topup_id = t.id) d`;
const COLUMNS = `t.id, t.order_ref, c.email, t.coin, t.status, t.cancelled_at, t.amount_cents, t.rate_usd,
  t.quotes, t.deposit_address, t.deposit_units, d.received as received_units, d.held as withheld_units,
  d.refunded as refunded_units, d.unsent as unsent_units, t.credited_cents, t.bonus_paid_cents,
  t.reversed_cents, t.reversed_at, t.expires_at, t.created_at`;

const NOTE_SQL: Readonly<Record<TopupNote, string>> = {
  withheld: 't.credit_held',
  refund_pending: `t.id in (
    select topup_id from deposits where refund_address is not null and refund_txid is null)`,
  reversed: 't.reversed_at is not null',
  canceled: 't.cancelled_at is not null',
};

/** Omitted fields match everything. */
export interface OperatorTopupFilter {
  readonly customerId?: string;
  readonly status?: TopupStatus;
  readonly coin?: CoinCode;
  readonly note?: TopupNote;
  /** Only older top-ups than this one. */
  readonly beforeId?: string;
}

const CONDITIONS = {
  customerId: 't.customer_id = $customerId',
  status: 't.status = $status',
  coin: 't.coin = $coin',
  beforeId: 't.id < $beforeId',
};

/**
 * Lists top-ups newest first: ids begin with the time. Only the given conditions are in the SQL, so it plans
 * well. Those of one customer are in the order of their index.
 */
export async function listOperatorTopups(
  tx: Sql,
  { note, ...filter }: OperatorTopupFilter,
  limit: number,
): Promise<OperatorTopupRow[]> {
  return await tx.rows<OperatorTopupRow>(
    `select ${COLUMNS} from ${FROM}
      where ${conditionsFor(filter, CONDITIONS)} and ${note ? NOTE_SQL[note] : 'true'}
      order by ${filter.customerId === undefined ? '' : 't.created_at desc,'} t.id desc limit $limit`,
    { ...filter, limit },
  );
}

/**
 * Finds top-ups by an `order_ref`, an id, a deposit address, or the txid of a payment. Each is an index
 * lookup; addresses are unique per coin.
 */
export async function findOperatorTopups(
  tx: Sql,
  name: { readonly id: string | null; readonly text: string },
  limit: number,
): Promise<OperatorTopupRow[]> {
  return await tx.rows<OperatorTopupRow>(
    `select ${COLUMNS} from ${FROM}
      where t.id = any (array(
        select id from topups where id = $1
        union select id from topups where order_ref = $2
        union select id from topups where coin = any ($4) and deposit_address = $2
        union select topup_id from deposits where txid = $2))
      order by t.id desc limit $3`,
    [name.id, name.text, limit, COIN_CODES],
  );
}

export interface WithheldTopupRow {
  readonly id: string;
  readonly order_ref: string;
  readonly email: string;
  readonly coin: string;
  /** The total of the withheld payments, in the coin's smallest unit. */
  readonly withheld_units: string;
  /** The total of the payments with an approved refund that has no transaction recorded. */
  readonly unsent_units: string;
  readonly created_at: Date;
}

/** Lists top-ups with withheld payments that are still on chain, or with unsent refunds, oldest first. */
export async function listWithheldTopups(tx: Sql): Promise<WithheldTopupRow[]> {
  return await tx.rows<WithheldTopupRow>(
    `select * from (
       select t.id, t.order_ref, c.email, t.coin, t.created_at,
              coalesce(sum(d.amount_units) filter (
                where t.credit_held and d.held and d.state in ('included', 'final')), 0) as withheld_units,
              coalesce(sum(d.amount_units) filter (
                where d.refund_address is not null and d.refund_txid is null), 0) as unsent_units
         from topups t
         join deposits d on d.topup_id = t.id
         join customers c on c.id = t.customer_id
        where t.id in (
          select id from topups where credit_held
          union select topup_id from deposits where refund_address is not null and refund_txid is null)
        group by t.id, c.id) as totals
      where withheld_units > 0 or unsent_units > 0
      order by created_at, id`,
  );
}
