/** What chains showed of each payment to an invoice, and what was credited for it. */
import type { Sql } from '../kernel/sql.ts';
import type { ObservationState } from '../ports/chain.ts';
import type { Quote } from '../ports/rates.ts';
import type { CoinCode } from '../spec/coins.ts';

export interface DepositRow {
  readonly coin: CoinCode;
  /** Unique on its coin: an output is credited once. */
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
  /** What that rate was made of. */
  readonly quotes_at_inclusion: readonly Quote[];
  /** False while a second node does not have it there. */
  readonly agreed: boolean;
  readonly held: boolean;
  readonly refunded_at: Date | null;
  /** How often it was credited, those taken back included. */
  readonly credits: number;
  /** Null while it does not count; dust counts with 0. */
  readonly credited_cents: bigint | null;
  readonly credit_transfer_id: string | null;
  readonly first_seen_at: Date;
}

type StoredDeposit = Omit<DepositRow, 'amount_units'> & { readonly amount_units: string };

const COLUMNS = `coin, key, topup_id, txid, amount_units, state, confirmations, height, block_hash, included_at,
  rate_at_inclusion, quotes_at_inclusion, agreed, held, refunded_at, credits, credited_cents, credit_transfer_id, first_seen_at`;

function toDepositRow(stored: StoredDeposit): DepositRow {
  return { ...stored, amount_units: BigInt(stored.amount_units) };
}

/** All that was ever seen for one invoice, oldest first. */
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
  /** Whether the chain moved since they were asked for. */
  readonly moved: boolean;
  /** Its height; null where that is not known. */
  readonly tip: number | null;
}

/**
 * What the chain may still change: all that is outside a block, and with `moved` all that is not yet final. Of these, one that is
 * not credited while a second node lacks it, or has it less deep than it is at `tip`, is asked for though the chain did not move:
 * that node is behind by seconds mostly, and the next block may be far. One without a confirmation is locked: it waits for blocks.
 */
const UNFINISHED_SQL = `coin = $1 and state in ('mempool', 'included')
  and (state = 'mempool' or $2
       or credited_cents is null and (not agreed or confirmations between 1 and $3::int - height))`;

/** A payment, and the invoice that it is for. */
export type DepositKey = Pick<DepositRow, 'key' | 'topup_id'>;

/** Invoice by invoice, at most `limit` behind `after`. */
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

/** Those that somebody waits for longest: of what is not credited the oldest, then of the rest. */
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

/** Invoices, oldest payment first, with a payment that came later than `graceHours` after their end and has no rate of its own yet. */
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

/** Whoever pays one invoice by thousands of outputs: so many of them are written in a statement. */
const ROWS_PER_STATEMENT = 1_000;

/** Writes deposits, new or known, each once; what one pays, and to whom, never changes. */
export async function saveDeposits(tx: Sql, rows: readonly DepositRow[]): Promise<void> {
  for (let i = 0; i < rows.length; i += ROWS_PER_STATEMENT) {
    await saveDepositBatch(tx, rows.slice(i, i + ROWS_PER_STATEMENT));
  }
}

async function saveDepositBatch(tx: Sql, rows: readonly DepositRow[]): Promise<void> {
  const column = <T>(value: (row: DepositRow) => T) => rows.map(value);
  await tx.run(
    `insert into deposits (${COLUMNS})
     select * from unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::numeric[], $6::text[], $7::int[], $8::int[],
       $9::text[], $10::timestamptz[], $11::text[], $12::jsonb[], $13::bool[], $14::bool[], $15::timestamptz[], $16::int[],
       $17::bigint[], $18::uuid[], $19::timestamptz[])
     on conflict (coin, key) do update set
       state = excluded.state, confirmations = excluded.confirmations, height = excluded.height,
       block_hash = excluded.block_hash, included_at = excluded.included_at,
       rate_at_inclusion = excluded.rate_at_inclusion, quotes_at_inclusion = excluded.quotes_at_inclusion,
       agreed = excluded.agreed, held = excluded.held, refunded_at = excluded.refunded_at, credits = excluded.credits,
       credited_cents = excluded.credited_cents, credit_transfer_id = excluded.credit_transfer_id`,
    [
      column((row) => row.coin),
      column((row) => row.key),
      column((row) => row.topup_id),
      column((row) => row.txid),
      column((row) => row.amount_units),
      column((row) => row.state),
      column((row) => row.confirmations),
      column((row) => row.height),
      column((row) => row.block_hash),
      column((row) => row.included_at),
      column((row) => row.rate_at_inclusion),
      column((row) => JSON.stringify(row.quotes_at_inclusion)),
      column((row) => row.agreed),
      column((row) => row.held),
      column((row) => row.refunded_at),
      column((row) => row.credits),
      column((row) => row.credited_cents),
      column((row) => row.credit_transfer_id),
      column((row) => row.first_seen_at),
    ],
  );
}
