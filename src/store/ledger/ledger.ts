/**
 * Transfers and balances. Only domain/ledger/transfer.ts and the deploy statement write them. Every transfer
 * moves money between two accounts and states the fact that caused it; facts are unique, so nothing is booked
 * twice.
 *
 * The order of a customer's transfers is that of `booked_at`. Those of one commit have the same `created_at`,
 * and ids are random within a millisecond. So the time of booking is set under the balance's lock, above that
 * of the previous one: each row's balance is that of the row before it plus its amount.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { type Page, readPage } from '../page.ts';
import { parametersFor } from '../parameters.ts';

export type TransferType = 'charge' | 'topup' | 'bonus' | 'refund' | 'adjustment' | 'reversal';
export type ResourceKind = 'server' | 'topup';

export interface TransferRow {
  readonly id: string;
  readonly debit_account: string;
  readonly credit_account: string;
  readonly amount_cents: bigint;
  readonly customer_id: string;
  readonly type: TransferType;
  readonly resource_kind: ResourceKind | null;
  readonly resource_id: string | null;
  readonly description: string;
  readonly fact: string;
  readonly reverses: string | null;
  readonly created_at: Date;
}

const COLUMNS = `id, debit_account, credit_account, amount_cents, customer_id, type, resource_kind,
  resource_id, description, fact, reverses, created_at`;

/** The balance's next time of booking, for a transfer with the creation time of that parameter. */
export const nextBooking = (createdAt: string) =>
  `greatest(${createdAt}::timestamptz, booked_at + interval '1 microsecond')`;

/** The new value of a column that has the time of the transfer that made the balance negative, else null. */
const whileNegative = (column: string) =>
  `case when balance_cents + $delta < 0 then coalesce(${column}, $created_at) end`;

/**
 * Inserts one transfer and updates the customer's balance in one statement. Returns the new balance, or
 * undefined if it would be negative without `mayOverdraw`. A fact that was already booked violates
 * `transfers_fact_key`.
 */
export async function insertTransfer(
  tx: Sql,
  row: TransferRow,
  mayOverdraw: boolean,
): Promise<bigint | undefined> {
  const delta = row.credit_account === row.customer_id ? row.amount_cents : -row.amount_cents;
  const booked = await tx.row<{ balance_after_cents: bigint }>(
    `with moved as (
       update balances
          set balance_cents = balance_cents + $delta, moved = true, debited = debited or $delta < 0,
              booked_at = ${nextBooking('$created_at')},
              negative_since = ${whileNegative('negative_since')},
              negative_check_at = ${whileNegative('negative_check_at')}
        where customer_id = $customer_id
          and ($delta::bigint > 0 or $mayOverdraw or balance_cents + $delta >= 0)
       returning balance_cents, booked_at)
     insert into transfers (${COLUMNS}, balance_after_cents, booked_at)
     select ${parametersFor(COLUMNS)}, balance_cents, booked_at from moved
     returning balance_after_cents`,
    { ...row, delta, mayOverdraw },
  );
  return booked?.balance_after_cents;
}

export async function findTransfer(tx: Sql, id: string): Promise<TransferRow | undefined> {
  return await tx.row<TransferRow>(`select ${COLUMNS} from transfers where id = $1`, [id]);
}

/** Returns the transfer that this fact caused. */
export async function findTransferOfFact(tx: Sql, fact: string): Promise<TransferRow | undefined> {
  return await tx.row<TransferRow>(`select ${COLUMNS} from transfers where fact = $1`, [fact]);
}

/** Returns the customer's balance in cents. */
export async function readBalance(tx: Sql, customerId: string): Promise<bigint> {
  const row = await tx.row<{ balance_cents: bigint }>(
    `select balance_cents from balances where customer_id = $1`,
    [customerId],
  );
  return row?.balance_cents ?? 0n;
}

/** Returns the customer's balance, and whether the operator froze the account. */
export async function findPayer(
  tx: Sql,
  customerId: string,
): Promise<{ readonly balance_cents: bigint; readonly frozen: boolean } | undefined> {
  return await tx.row(
    `select b.balance_cents, c.frozen_at is not null as frozen
       from balances b join customers c on c.id = b.customer_id where b.customer_id = $1`,
    [customerId],
  );
}

/** Returns how many servers count toward the customer's quota. */
export async function readServerCount(tx: Sql, customerId: string): Promise<number> {
  const row = await tx.row<{ servers: number }>(`select servers from balances where customer_id = $1`, [
    customerId,
  ]);
  return row?.servers ?? 0;
}

/** Locks the customer's balance: second in the lock order server, customer, host, address. */
export async function lockBalance(tx: Sql, customerId: string): Promise<bigint | undefined> {
  const row = await tx.row<{ balance_cents: bigint }>(
    `select balance_cents from balances where customer_id = $1 for update`,
    [customerId],
  );
  return row?.balance_cents;
}

export interface BalanceSummary {
  readonly balance_cents: bigint;
  /** How many servers are running. */
  readonly running: bigint;
  /** The earliest end of their cycles; null when none is running. */
  readonly first_end: Date | null;
  /** Their total monthly price without discounts, backups included. */
  readonly cents_month: bigint;
}

/** Reads the balance and the totals of the running servers in one snapshot. */
export async function readBalanceSummary(sql: Sql, customerId: string): Promise<BalanceSummary | undefined> {
  return await sql.row<BalanceSummary>(
    `select b.balance_cents, count(s.id) as running, min(s.paid_until) as first_end,
            coalesce(sum(s.price_cents_month
              + ceil(s.price_cents_month * coalesce(s.backup_percent, 0) / 100.0)), 0)::bigint as cents_month
       from balances b left join servers s on s.customer_id = b.customer_id and s.status = 'running'
      where b.customer_id = $1 group by b.customer_id`,
    [customerId],
  );
}

export interface LedgerRow {
  readonly id: string;
  readonly type: TransferType;
  /** Signed: negative for a debit. */
  readonly amount_cents: bigint;
  readonly balance_after_cents: bigint;
  readonly resource_kind: ResourceKind | null;
  readonly resource_id: string | null;
  readonly description: string;
  readonly created_at: Date;
}

/** The columns of a transfer as its customer sees it. */
const ENTRY = `id, type,
  case when credit_account = customer_id then amount_cents else -amount_cents end as amount_cents,
  balance_after_cents, resource_kind, resource_id, description, created_at`;

/** Pages through the customer's ledger. Filters: `type`, and times `from` and `to` in RFC 3339. */
export async function pageLedger(sql: Sql, customerId: string, page: PageRequest): Promise<Page<LedgerRow>> {
  return await readPage<LedgerRow>(
    sql,
    {
      columns: ENTRY,
      from: 'transfers',
      where: 'customer_id = $customerId',
      values: { customerId },
      sorts: { created_at: { column: 'booked_at', type: 'timestamptz' } },
      filters: {
        type: { where: 'type = $type', indexed: true },
        from: { bound: 'from', value: (text) => new Date(text) },
        to: { bound: 'to', value: (text) => new Date(text) },
      },
    },
    page,
  );
}

/** Lists a customer's ledger for staff, latest booking first, optionally only entries before `beforeId`. */
export async function listOperatorLedger(
  sql: Sql,
  customerId: string,
  { beforeId, limit }: { readonly beforeId: string | null; readonly limit: number },
): Promise<LedgerRow[]> {
  return await sql.rows<LedgerRow>(
    `select ${ENTRY} from transfers
      where customer_id = $1 and ($2::uuid is null or booked_at < (
        select t.booked_at from transfers t where t.id = $2 and t.customer_id = $1))
      order by booked_at desc limit $3`,
    [customerId, beforeId, limit],
  );
}

/** Finds the customer's own entry. */
export async function findLedgerEntry(
  sql: Sql,
  customerId: string,
  id: string,
): Promise<LedgerRow | undefined> {
  return await sql.row<LedgerRow>(`select ${ENTRY} from transfers where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** Lists the customer's transfers for one resource, oldest first, at most `limit`. */
export async function listResourceLedger(
  sql: Sql,
  customerId: string,
  { resourceId, limit }: { readonly resourceId: string; readonly limit: number },
): Promise<LedgerRow[]> {
  return await sql.rows<LedgerRow>(
    `select ${ENTRY} from transfers where resource_id = $1 and customer_id = $2
      order by booked_at limit $3`,
    [resourceId, customerId, limit],
  );
}

/** Returns the names of the customer's servers that still exist, by id. */
export async function listServerNames(
  sql: Sql,
  customerId: string,
  ids: readonly string[],
): Promise<{ readonly id: string; readonly name: string }[]> {
  return await sql.rows(`select id, name from servers where id = any($1) and customer_id = $2`, [
    ids,
    customerId,
  ]);
}
