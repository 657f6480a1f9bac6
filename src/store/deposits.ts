/** What chains showed of each payment to an invoice, and what was credited for it. */
import type { Sql } from '../kernel/sql.ts';
import type { ObservationState } from '../ports/chain.ts';
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
  readonly held: boolean;
  readonly refunded_at: Date | null;
  /** How often it was credited, those taken back included. */
  readonly credits: number;
  /** Null while it does not count; dust counts with 0. */
  readonly credited_cents: bigint | null;
  readonly credit_transfer_id: string | null;
  readonly first_seen_at: Date;
}

type Stored = Omit<DepositRow, 'amount_units'> & { readonly amount_units: string };

const COLUMNS = `coin, key, topup_id, txid, amount_units, state, confirmations, height, block_hash, included_at,
  rate_at_inclusion, held, refunded_at, credits, credited_cents, credit_transfer_id, first_seen_at`;

function deposit(stored: Stored): DepositRow {
  return { ...stored, amount_units: BigInt(stored.amount_units) };
}

/** All that was ever seen for one invoice, oldest first. */
export async function depositsOf(sql: Sql, topupId: string): Promise<DepositRow[]> {
  const stored = await sql.rows<Stored>(
    `select ${COLUMNS} from deposits where topup_id = $1 order by first_seen_at, key`,
    [topupId],
  );
  return stored.map(deposit);
}

export async function findDeposits(sql: Sql, coin: CoinCode, keys: readonly string[]): Promise<DepositRow[]> {
  const stored = await sql.rows<Stored>(`select ${COLUMNS} from deposits where coin = $1 and key = any($2)`, [
    coin,
    keys,
  ]);
  return stored.map(deposit);
}

/** Keys that the chain may still change: those outside a block, and with `included` those not yet final. */
export async function unfinishedKeys(
  sql: Sql,
  coin: CoinCode,
  which: { readonly included: boolean },
): Promise<string[]> {
  const rows = await sql.rows<{ key: string }>(
    `select key from deposits
      where coin = $1 and state in ('mempool', 'included') and (state = 'mempool' or $2) order by key`,
    [coin, which.included],
  );
  return rows.map((row) => row.key);
}

/** Writes a deposit, new or known; what it pays, and to whom, never changes. */
export async function saveDeposit(tx: Sql, row: DepositRow): Promise<void> {
  await tx.run(
    `insert into deposits (${COLUMNS})
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     on conflict (coin, key) do update set
       state = $6, confirmations = $7, height = $8, block_hash = $9, included_at = $10, rate_at_inclusion = $11,
       held = $12, refunded_at = $13, credits = $14, credited_cents = $15, credit_transfer_id = $16`,
    [
      row.coin,
      row.key,
      row.topup_id,
      row.txid,
      row.amount_units,
      row.state,
      row.confirmations,
      row.height,
      row.block_hash,
      row.included_at,
      row.rate_at_inclusion,
      row.held,
      row.refunded_at,
      row.credits,
      row.credited_cents,
      row.credit_transfer_id,
      row.first_seen_at,
    ],
  );
}
