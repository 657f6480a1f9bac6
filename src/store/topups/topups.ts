/** Top-ups: the invoices. Their observed payments are in deposits.ts. */
import type { Sql } from '../../kernel/sql.ts';
import type { Quote } from '../../ports/rates.ts';
import type { CoinCode } from '../../spec/coins.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { TopupStatus } from '../../spec/states.ts';
import { BY_CREATION, type Page, readPage } from '../page.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface TopupRow {
  readonly id: string;
  readonly public_no: bigint;
  readonly order_ref: string;
  readonly customer_id: string;
  readonly coin: CoinCode;
  readonly amount_cents: bigint;
  /** The bonus promised for `amount_cents`. */
  readonly bonus_cents: bigint;
  readonly deposit_address: string;
  readonly deposit_uri: string;
  /** In the coin's smallest unit. */
  readonly deposit_units: bigint;
  readonly rate_usd: string;
  /** The quotes that rate was computed from; empty for invoices of older versions. */
  readonly quotes: readonly Quote[];
  readonly required_confirmations: number;
  readonly status: TopupStatus;
  readonly cancelled_at: Date | null;
  readonly credit_held: boolean;
  readonly confirmations: number;
  /** The amount credited to the balance, without the bonus. */
  readonly credited_cents: bigint;
  readonly bonus_paid_cents: bigint;
  readonly bonus_transfers: readonly string[];
  /** The amount taken back, bonus included, and not credited again. */
  readonly reversed_cents: bigint;
  /** When an amount was last taken back; null if `reversed_cents` is zero. */
  readonly reversed_at: Date | null;
  readonly expires_at: Date;
  readonly created_at: Date;
}

type StoredTopup = Omit<TopupRow, 'deposit_units'> & { readonly deposit_units: string };

const CHANGING_COLUMNS = `status, cancelled_at, credit_held, confirmations, required_confirmations,
  credited_cents, bonus_paid_cents, bonus_transfers, reversed_cents, reversed_at`;
const COLUMNS = `id, public_no, order_ref, customer_id, coin, amount_cents, bonus_cents, deposit_address,
  deposit_uri, deposit_units, rate_usd, quotes, expires_at, created_at, ${CHANGING_COLUMNS}`;

function toTopupRow(stored: StoredTopup): TopupRow {
  return { ...stored, deposit_units: BigInt(stored.deposit_units) };
}

async function findOne(sql: Sql, where: string, values: readonly unknown[]): Promise<TopupRow | undefined> {
  const stored = await sql.row<StoredTopup>(`select ${COLUMNS} from topups where ${where}`, values);
  return stored && toTopupRow(stored);
}

/** The transactions that pay an invoice, in a block or in the mempool, oldest first, up to the limit. */
const TXIDS = `array(select d.txid from deposits d
  where d.topup_id = topups.id and d.state not in ('removed', 'conflicted')
  group by d.txid order by min(d.first_seen_at), min(d.key) limit ${LIMITS.topupTxidsMax}) as txids`;

export interface PaidTopup {
  readonly row: TopupRow;
  readonly txids: readonly string[];
}

type StoredPaidTopup = StoredTopup & { readonly txids: readonly string[] };

const toPaidTopup = ({ txids, ...stored }: StoredPaidTopup): PaidTopup => ({
  row: toTopupRow(stored),
  txids,
});

/** Finds the customer's own invoice with its transactions. */
export async function findPaidTopup(
  sql: Sql,
  customerId: string,
  id: string,
): Promise<PaidTopup | undefined> {
  const stored = await sql.row<StoredPaidTopup>(
    `select ${COLUMNS}, ${TXIDS} from topups where id = $1 and customer_id = $2`,
    [id, customerId],
  );
  return stored && toPaidTopup(stored);
}

/** Pages through the customer's invoices with their transactions. Filters: `status`, `coin`. */
export async function pageTopups(sql: Sql, customerId: string, page: PageRequest): Promise<Page<PaidTopup>> {
  const { rows, next } = await readPage<StoredPaidTopup>(
    sql,
    {
      columns: `${COLUMNS}, ${TXIDS}`,
      from: 'topups',
      where: 'customer_id = $customerId',
      values: { customerId },
      sorts: BY_CREATION,
      filters: {
        status: { where: 'status = $status', indexed: true },
        coin: { where: 'coin = $coin', indexed: true },
      },
    },
    page,
  );
  return { rows: rows.map(toPaidTopup), next };
}

/** Inserts an invoice. Returns false when its public number is taken. */
export async function insertTopup(tx: Sql, row: TopupRow): Promise<boolean> {
  const inserted = await tx.run(
    `insert into topups (${COLUMNS})
     values (${parametersFor(COLUMNS)})
     on conflict (public_no) do nothing`,
    { ...row, quotes: JSON.stringify(row.quotes) },
  );
  return inserted > 0;
}

/** Updates the columns of an invoice that may change. */
export async function updateTopup(tx: Sql, row: TopupRow): Promise<void> {
  await tx.run(`update topups set ${assignmentsFor(CHANGING_COLUMNS)} where id = $id`, row);
}

export async function findTopupByRef(
  sql: Sql,
  customerId: string,
  orderRef: string,
): Promise<TopupRow | undefined> {
  return await findOne(sql, 'order_ref = $1 and customer_id = $2', [orderRef, customerId]);
}

/** Locks an invoice; always before the balance that it credits. */
export async function lockTopup(tx: Sql, id: string): Promise<TopupRow | undefined> {
  return await findOne(tx, 'id = $1 for no key update', [id]);
}

export async function lockTopupByRef(
  tx: Sql,
  customerId: string,
  orderRef: string,
): Promise<TopupRow | undefined> {
  return await findOne(tx, 'order_ref = $1 and customer_id = $2 for no key update', [orderRef, customerId]);
}

/** Finds the invoices of one coin with these addresses, and the invoices with these ids. */
export async function matchTopups(
  sql: Sql,
  coin: CoinCode,
  by: { readonly addresses: readonly string[]; readonly ids: readonly string[] },
): Promise<TopupRow[]> {
  const stored = await sql.rows<StoredTopup>(
    `select ${COLUMNS} from topups where coin = $1 and deposit_address = any($2)
     union
     select ${COLUMNS} from topups where id = any($3)`,
    [coin, by.addresses, by.ids],
  );
  return stored.map(toTopupRow);
}

/** Lists expired pending invoices, oldest first, except those given. */
export async function findExpiredTopups(
  sql: Sql,
  due: { readonly now: Date; readonly except: readonly string[]; readonly limit: number },
): Promise<string[]> {
  const rows = await sql.rows<{ id: string }>(
    `select id from topups where status = 'pending' and expires_at <= $1 and id <> all($2::uuid[])
      order by expires_at limit $3`,
    [due.now, due.except, due.limit],
  );
  return rows.map((row) => row.id);
}

/** Returns when the next pending invoice expires, except those given. */
export async function nextTopupExpiry(sql: Sql, except: readonly string[]): Promise<Date | null> {
  const row = await sql.row<{ at: Date | null }>(
    `select min(expires_at) as at from topups where status = 'pending' and id <> all($1::uuid[])`,
    [except],
  );
  return row?.at ?? null;
}

/** Counts the customer's unpaid invoices since then: in total, and in these coins. */
export async function countUnpaidTopups(
  sql: Sql,
  customerId: string,
  { since, coins }: { readonly since: Date; readonly coins: readonly CoinCode[] },
): Promise<{ readonly all: number; readonly ofCoins: number }> {
  const row = await sql.row<{ all: number; ofCoins: number }>(
    `select count(*)::int as all, count(*) filter (where coin = any($3))::int as "ofCoins" from topups
      where customer_id = $1 and created_at > $2 and status in ('pending', 'expired')`,
    [customerId, since, coins],
  );
  return row ?? { all: 0, ofCoins: 0 };
}

export async function countOpenTopups(sql: Sql, customerId: string): Promise<number> {
  const row = await sql.row<{ open: number }>(
    `select count(*)::int as open from topups
      where customer_id = $1 and status in ('pending', 'confirming')`,
    [customerId],
  );
  return row?.open ?? 0;
}
