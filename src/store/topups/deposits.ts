/** Payments to invoices as observed on their chains, and the credit of each. */
import type { Sql } from '../../kernel/sql.ts';
import type { ObservationState } from '../../ports/chain.ts';
import type { Quote } from '../../ports/rates.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { assignmentsFor } from '../parameters.ts';

export interface DepositRow {
  readonly coin: CoinCode;
  /** Unique per coin, so that an output is credited once. */
  readonly key: string;
  readonly topup_id: string;
  readonly txid: string;
  /** In the coin's smallest unit. */
  readonly amount_units: bigint;
  readonly state: ObservationState;
  readonly confirmations: number;
  readonly height: number | null;
  readonly block_hash: string | null;
  /** The time of its block; null outside one. */
  readonly included_at: Date | null;
  readonly rate_at_inclusion: string | null;
  /** The quotes that rate was computed from. */
  readonly quotes_at_inclusion: readonly Quote[];
  /** False while a second node does not report it at that place. */
  readonly agreed: boolean;
  readonly held: boolean;
  readonly refunded_at: Date | null;
  /** How many times it was credited, including reversed credits. */
  readonly credits: number;
  /** Null while it does not count; dust counts as 0. */
  readonly credited_cents: bigint | null;
  readonly credit_transfer_id: string | null;
  readonly first_seen_at: Date;
}

type StoredDeposit = Omit<DepositRow, 'amount_units'> & { readonly amount_units: string };

const CHANGING_COLUMNS = `state, confirmations, height, block_hash, included_at, rate_at_inclusion,
  quotes_at_inclusion, agreed, held, refunded_at, credits, credited_cents, credit_transfer_id`;
const COLUMNS = `coin, key, topup_id, txid, amount_units, first_seen_at, ${CHANGING_COLUMNS}`;

function toDepositRow(stored: StoredDeposit): DepositRow {
  return { ...stored, amount_units: BigInt(stored.amount_units) };
}

/** Lists all deposits ever seen for one invoice, oldest first. */
export async function listDeposits(sql: Sql, topupId: string): Promise<DepositRow[]> {
  const stored = await sql.rows<StoredDeposit>(
    `select ${COLUMNS} from deposits where topup_id = $1 order by first_seen_at, key`,
    [topupId],
  );
  return stored.map(toDepositRow);
}

export async function findDeposits(sql: Sql, coin: CoinCode, keys: readonly string[]): Promise<DepositRow[]> {
  const stored = await sql.rows<StoredDeposit>(
    `select ${COLUMNS} from deposits where coin = $1 and key = any($2)`,
    [coin, keys],
  );
  return stored.map(toDepositRow);
}

export interface UnfinishedFilter {
  /** Whether the chain advanced since the last check. */
  readonly moved: boolean;
  /** Its height; null if unknown. */
  readonly tip: number | null;
}

/**
 * Deposits that the chain may still change: all outside a block and, with `moved`, all that are not final. An
 * uncredited deposit that a second node lacks, or reports less deep than it is at `tip`, is checked even
 * without a new block: that node usually lags by seconds, while the next block may be far off. A deposit
 * without a confirmation is locked on its chain and waits for blocks.
 */
const UNFINISHED_SQL = `coin = $1 and state in ('mempool', 'included')
  and (state = 'mempool' or $2
       or credited_cents is null and (not agreed or confirmations between 1 and $3::int - height))`;

/** A deposit and its invoice. */
export type DepositKey = Pick<DepositRow, 'key' | 'topup_id'>;

/** Lists unfinished deposits by invoice, at most `limit` after `after`. */
export async function listUnfinishedDeposits(
  sql: Sql,
  coin: CoinCode,
  filter: UnfinishedFilter,
  page: { readonly after: DepositKey | null; readonly limit: number },
): Promise<DepositKey[]> {
  return await sql.rows<DepositKey>(
    `select key, topup_id from deposits
      where ${UNFINISHED_SQL} and ($4::uuid is null or (topup_id, key) > ($4, $5))
      order by topup_id, key limit $6`,
    [coin, filter.moved, filter.tip, page.after?.topup_id ?? null, page.after?.key ?? '', page.limit],
  );
}

/** Lists the deposits waiting longest: uncredited ones first, each group oldest first. */
export async function listOldestUnfinishedDeposits(
  sql: Sql,
  coin: CoinCode,
  filter: UnfinishedFilter,
  limit: number,
): Promise<DepositKey[]> {
  return await sql.rows<DepositKey>(
    `select key, topup_id from deposits where ${UNFINISHED_SQL}
      order by credited_cents is not null, first_seen_at, key limit $4`,
    [coin, filter.moved, filter.tip, limit],
  );
}

/**
 * Finds invoices, oldest payment first, with a payment included more than `graceHours` after their expiry
 * that has no rate of its own yet.
 */
export async function findUnpricedTopups(
  sql: Sql,
  coin: CoinCode,
  { graceHours, limit }: { readonly graceHours: number; readonly limit: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select t.id from deposits d join topups t on t.id = d.topup_id
      where d.coin = $1 and d.state = 'included' and d.rate_at_inclusion is null and d.refunded_at is null
        and d.included_at > t.expires_at + $2 * interval '1 hour'
      group by t.id order by min(d.first_seen_at) limit $3`,
    [coin, graceHours, limit],
  );
  return rows.map((row) => row.id);
}

/** An invoice may be paid in thousands of outputs; this bounds the rows of one statement. */
const ROWS_PER_STATEMENT = 1_000;

/** Inserts or updates deposits. The amount and the invoice of a deposit never change. */
export async function saveDeposits(tx: Sql, rows: readonly DepositRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT) {
    await saveDepositBatch(tx, rows.slice(i, i + ROWS_PER_STATEMENT));
  }
}

async function saveDepositBatch(tx: Sql, rows: readonly DepositRow[]): Promise<void> {
  const stored = rows.map((row) => ({
    ...row,
    quotes_at_inclusion: JSON.stringify(row.quotes_at_inclusion),
  }));
  await tx.run(
    `insert into deposits (${COLUMNS})
     select * from unnest($rows.coin::text[], $rows.key::text[], $rows.topup_id::uuid[], $rows.txid::text[],
                          $rows.amount_units::numeric[], $rows.first_seen_at::timestamptz[],
                          $rows.state::text[], $rows.confirmations::int[], $rows.height::int[],
                          $rows.block_hash::text[], $rows.included_at::timestamptz[],
                          $rows.rate_at_inclusion::text[], $rows.quotes_at_inclusion::jsonb[],
                          $rows.agreed::bool[], $rows.held::bool[], $rows.refunded_at::timestamptz[],
                          $rows.credits::int[], $rows.credited_cents::int8[],
                          $rows.credit_transfer_id::uuid[])
     on conflict (coin, key) do update set ${assignmentsFor(CHANGING_COLUMNS, 'excluded.')}`,
    { rows: stored },
  );
}
