/** The coins and the paid addresses as the operator sees them. */
import { firstIdAt } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { CoinCode } from '../../spec/coins.ts';

export interface OperatorCoinRow {
  readonly code: CoinCode;
  readonly cursor: string | null;
  readonly failures: number;
  readonly last_fault: string | null;
  /** When its chain was last read completely. */
  readonly read_at: Date | null;
  readonly next_index: number;
  readonly given: bigint;
  /** Addresses of the pool that were imported, and that are free. */
  readonly pooled: bigint;
  readonly free: bigint;
  /** A machine knows higher numbers: the database was restored. */
  readonly behind: boolean;
}

export async function listOperatorCoins(tx: Sql): Promise<OperatorCoinRow[]> {
  return await tx.rows<OperatorCoinRow>(
    `select c.code, c.cursor, c.failures, c.last_fault, c.read_at, c.next_index, c.given,
            (select count(*) from address_pool p where p.coin = c.code) as pooled,
            (select count(*) from address_pool p where p.coin = c.code and p.topup_id is null) as free,
            exists (select from address_marks m
                     where m.coin = c.code and (m.next_index > c.next_index or m.given > c.given
                                                or m.pool_place > c.pool_place)) as behind
       from coins c order by c.code`,
  );
}

export interface PaidAddressRow {
  readonly topup_id: string;
  readonly order_ref: string;
  readonly coin: CoinCode;
  readonly address: string;
  /** The sum of its confirmed payments, in the coin's smallest unit. */
  readonly units: string;
  readonly payments: bigint;
  readonly last_paid_at: Date;
}

export interface PaidAddressFilter {
  /** Null: of all coins. */
  readonly coin: CoinCode | null;
  /** Only addresses with a payment since then. */
  readonly since: Date | null;
  /** Only addresses of older top-ups. */
  readonly beforeId: string | null;
}

/**
 * Lists addresses with final payments, by the age of their top-up, newest first. Top-ups since `since` are
 * read in order; an index finds older top-ups that were paid afterwards.
 */
export async function listPaidAddresses(
  tx: Sql,
  filter: PaidAddressFilter,
  limit: number,
): Promise<PaidAddressRow[]> {
  const values = { coin: filter.coin, beforeId: filter.beforeId };
  if (filter.since === null) return await tx.rows<PaidAddressRow>(paidSql('true'), { ...values, limit });
  const dated = { ...values, since: filter.since, firstId: firstIdAt(filter.since) };
  const recent = await tx.rows<PaidAddressRow>(paidSql(PAID_SINCE.recent), { ...dated, limit });
  if (recent.length === limit) return recent;
  const rest = { ...dated, limit: limit - recent.length };
  return [...recent, ...(await tx.rows<PaidAddressRow>(paidSql(PAID_SINCE.older), rest))];
}

const PAID_SINCE = {
  recent: 't.id >= $firstId and d.last_paid_at >= $since',
  older: `t.id < $firstId and t.id in (
    select topup_id from deposits
     where state = 'final' and coalesce(included_at, first_seen_at) >= $since and topup_id < $firstId)`,
} as const;

function paidSql(condition: string): string {
  return `select t.id as topup_id, t.order_ref, t.coin, t.deposit_address as address, d.units, d.payments,
            d.last_paid_at
       from topups t cross join lateral (
              select sum(amount_units) as units, count(*) as payments,
                     max(coalesce(included_at, first_seen_at)) as last_paid_at
                from deposits where topup_id = t.id and state = 'final') d
      where ($coin::text is null or t.coin = $coin) and d.payments > 0
        and ($beforeId::uuid is null or t.id < $beforeId) and ${condition}
      order by t.id desc limit $limit`;
}
