/** All customers' payments as the operator sees them. */
import type { Sql } from '../../kernel/sql.ts';
import type { ObservationState } from '../../ports/chain.ts';
import type { CoinCode } from '../../spec/coins.ts';
import type { DepositOutcome } from '../../spec/staff/payments.ts';
import { conditionsFor } from '../parameters.ts';

export interface OperatorDepositRow {
  readonly coin: CoinCode;
  readonly key: string;
  readonly topup_id: string;
  readonly order_ref: string;
  readonly email: string;
  readonly txid: string;
  readonly amount_units: string;
  readonly state: ObservationState;
  readonly confirmations: number;
  readonly agreed: boolean;
  readonly held: boolean;
  readonly credited_cents: bigint | null;
  readonly refunded_at: Date | null;
  readonly first_seen_at: Date;
}

/** Omitted fields match everything. */
export interface OperatorDepositFilter {
  readonly coin?: CoinCode;
  readonly state?: ObservationState;
  readonly outcome?: DepositOutcome;
  /** Only payments after this one in the list. */
  readonly beforeKey?: string;
  readonly beforeCoin?: CoinCode;
}

const OUTCOME_SQL: Readonly<Record<DepositOutcome, string>> = {
  credited: 'd.credited_cents is not null',
  not_credited: 'd.credited_cents is null and d.refunded_at is null and not d.held',
  withheld: 'd.credited_cents is null and d.refunded_at is null and d.held',
  refunded: 'd.refunded_at is not null',
};

/** Lists payments, newest first. */
export async function listOperatorDeposits(
  tx: Sql,
  { outcome, beforeCoin, ...filter }: OperatorDepositFilter,
  limit: number,
): Promise<OperatorDepositRow[]> {
  const conditions = conditionsFor(filter, {
    coin: 'd.coin = $coin',
    state: 'd.state = $state',
    // The list goes down by time, and up by coin and key.
    beforeKey: `(select p.first_seen_at > d.first_seen_at
                     or p.first_seen_at = d.first_seen_at and (d.coin, d.key) > (p.coin, p.key)
                   from deposits p where p.coin = $beforeCoin and p.key = $beforeKey)`,
  });
  return await tx.rows<OperatorDepositRow>(
    `select d.coin, d.key, d.topup_id, t.order_ref, c.email, d.txid, d.amount_units, d.state,
            d.confirmations, d.agreed, d.held, d.credited_cents, d.refunded_at, d.first_seen_at
       from deposits d join topups t on t.id = d.topup_id join customers c on c.id = t.customer_id
      where ${conditions} and ${outcome ? OUTCOME_SQL[outcome] : 'true'}
      order by d.first_seen_at desc, d.coin, d.key limit $limit`,
    { ...filter, ...(filter.beforeKey !== undefined && { beforeCoin }), limit },
  );
}
