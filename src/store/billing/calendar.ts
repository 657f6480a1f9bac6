/** Finds the work that is due for the calendar: servers by `bill_at`, and customers whose balance changed. */
import type { Sql } from '../../kernel/sql.ts';
import { SERVER_COLUMNS, SERVER_FROM, SERVER_PRICE, type ServerRow } from '../servers/servers.ts';
import { LOW_BALANCE_WINDOW_SQL } from './cycles.ts';

/** A server with the columns that billing needs. */
export interface BillingServerRow extends ServerRow {
  readonly anchor_day: number;
  readonly awaiting_since: Date | null;
  readonly low_notified_for: Date | null;
  readonly destroy_at: Date | null;
  readonly warned_days: number | null;
  /** The monthly price announced for the cycle after the current one; null: the server's own price. */
  readonly announced_cents_month: bigint | null;
}

const BILLING_COLUMNS = `${SERVER_COLUMNS}, s.anchor_day, s.awaiting_since, s.low_notified_for, s.destroy_at,
  s.warned_days, ${announcedPriceSql('s.paid_until')} as announced_cents_month`;

/**
 * SQL for the announced monthly price that applies to a cycle of the server `s` starting at `from`, or null.
 */
function announcedPriceSql(from: string): string {
  return `(select c.price_cents_month from price_changes c
            where c.plan_id = s.plan_id and c.cancelled_at is null and c.effective_at <= ${from}
              and c.announced_at > coalesce(s.priced_at, s.created_at) order by c.effective_at desc limit 1)`;
}

/** Ordered by the end of the cycle, then by age. */
const BILLING_ORDER = 's.paid_until, s.created_at, s.id';
/**
 * Servers whose next cycle is charged automatically: they have run, and are neither suspended nor being
 * destroyed.
 */
const RENEWING_SQL = `s.auto_renew and s.first_run_at is not null
  and s.status in ('running', 'stopped', 'installing')`;

export interface CalendarWork {
  /** Up to which time the calendar has run; null: it has not. */
  readonly ranUntil: Date | null;
  /** The operator's `renewals` switch; null: its default. */
  readonly on: boolean | null;
  readonly due: boolean;
  readonly moved: boolean;
  /** Whether a negative balance is due for a check. */
  readonly negative: boolean;
  /** Whether customers are still to be notified of an announced price. */
  readonly unnotified: boolean;
}

/**
 * Finds everything that the calendar may have to do now. Each part selects the first row in index order: for
 * `exists`, the planner may scan the whole table when there is no match.
 */
export async function findCalendarWork(sql: Sql, now: Date): Promise<CalendarWork | undefined> {
  return await sql.row<CalendarWork>(
    `select (select calendar_at from service) as "ranUntil",
            (select on_ from switches where name = 'renewals') as on,
            coalesce((select bill_at from servers where bill_at is not null order by bill_at limit 1) <= $1,
                     false) as due,
            (select customer_id from balances where moved order by customer_id limit 1) is not null as moved,
            coalesce((select negative_check_at from balances where negative_check_at is not null
                       order by negative_check_at limit 1) <= $1, false) as negative,
            exists (select from price_changes where told_at is null and cancelled_at is null) as unnotified`,
    [now],
  );
}

/** Returns when the calendar next processes a server or a negative balance, or null. */
export async function nextBillAt(sql: Sql): Promise<Date | null> {
  const row = await sql.row<{ at: Date | null }>(
    `select least((select bill_at from servers where bill_at is not null order by bill_at limit 1),
                  (select negative_check_at from balances where negative_check_at is not null
                    order by negative_check_at limit 1)) as at`,
  );
  return row?.at ?? null;
}

/** Small against the tables, so that the planner uses their indexes. */
const BATCH_SIZE = 256;

/**
 * Lists the customers of a batch of due servers, the most overdue first, with the number of their servers in
 * it.
 */
export async function listDueCustomers(
  sql: Sql,
  now: Date,
): Promise<{ readonly customerId: string; readonly servers: number }[]> {
  return await sql.rows(
    `select customer_id as "customerId", count(*)::int as servers from (
       select customer_id, bill_at from servers
        where bill_at <= $1 order by bill_at limit ${BATCH_SIZE}) as due
      group by customer_id order by min(bill_at), customer_id`,
    [now],
  );
}

/**
 * Locks the customer's calendar until `tx` ends, so that servers due at the same time are processed in order.
 * Returns false when another transaction holds it. With `lockTimeout`, the transaction's later statements
 * wait no longer for a lock.
 */
export async function tryLockCalendar(tx: Sql, customerId: string, lockTimeout?: string): Promise<boolean> {
  const row = await tx.row<{ locked: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('calendar:' || $1::text, 0)) as locked,
            case when $2::text is not null then set_config('lock_timeout', $2, true) end`,
    [customerId, lockTimeout ?? null],
  );
  return row?.locked ?? false;
}

/** Locks the customer's first due servers in billing order. The caller holds the customer's calendar lock. */
export async function lockDueServers(
  tx: Sql,
  customerId: string,
  { now, limit }: { readonly now: Date; readonly limit: number },
): Promise<BillingServerRow[]> {
  return await tx.rows<BillingServerRow>(
    `select ${BILLING_COLUMNS} from ${SERVER_FROM}
      where s.customer_id = $1 and s.bill_at <= $2 order by ${BILLING_ORDER} limit $3 for no key update of s`,
    [customerId, now, limit],
  );
}

/** The calendar next checks these servers when their cycle ends. */
export async function setCheckAtEnd(tx: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run('update servers set bill_at = paid_until where id = any($1)', [ids]);
}

/** The columns that determine the price of the cycle after the current one. */
export type RenewalRow = Pick<
  BillingServerRow,
  | 'id'
  | 'billing_months'
  | 'price_cents_month'
  | 'price_cents_cycle'
  | 'backup_cents_cycle'
  | 'backup_percent'
  | 'paid_until'
  | 'announced_cents_month'
>;

/** Lists the customer's servers that renew by `until`. */
export async function listRenewingServers(tx: Sql, customerId: string, until: Date): Promise<RenewalRow[]> {
  return await tx.rows<RenewalRow>(
    `select s.id, s.billing_months, ${SERVER_PRICE}, s.paid_until,
            ${announcedPriceSql('s.paid_until')} as announced_cents_month
       from servers s where s.customer_id = $1 and ${RENEWING_SQL} and s.paid_until <= $2`,
    [customerId, until],
  );
}

/**
 * Locks a batch of balances that changed since the calendar's last run. Clears the mark of customers for whom
 * nothing depends on it: no server suspended for the balance and, after a debit, none that renews within the
 * window. Returns how many balances it locked and the remaining customers. A concurrent suspension has locked
 * its balance before, or waits for this transaction.
 */
export async function claimChangedBalances(
  tx: Sql,
  now: Date,
): Promise<{ readonly count: number; readonly customerIds: readonly string[] }> {
  const locked = await tx.rows<{ customer_id: string }>(
    `select customer_id from balances
      where moved order by customer_id limit ${BATCH_SIZE} for update skip locked`,
  );
  const ids = locked.map((row) => row.customer_id);
  if (ids.length === 0) return { count: 0, customerIds: [] };
  const rows = await tx.rows<{ customer_id: string }>(
    `with quiet as (
       update balances b set moved = false, debited = false
        where b.customer_id = any($1)
          and not exists (select from servers s where s.customer_id = b.customer_id
                and (s.status = 'suspended' and s.suspended_reason in ('balance', 'negative_balance')
                     or b.debited and ${RENEWING_SQL}
                        and s.paid_until <= $2::timestamptz + ${LOW_BALANCE_WINDOW_SQL}))
       returning b.customer_id)
     select id as customer_id from unnest($1::uuid[]) as batch (id)
      where id not in (select customer_id from quiet)`,
    [ids, now],
  );
  return { count: ids.length, customerIds: rows.map((row) => row.customer_id) };
}

/**
 * Whether a cycle of the customer has ended: it is charged before servers suspended for balance are resumed.
 */
export async function hasDueCycle(tx: Sql, customerId: string, now: Date): Promise<boolean> {
  return (
    (await tx.row(
      `select from servers s where s.customer_id = $1 and s.bill_at <= $2 and s.paid_until <= $2
          and s.status <> 'suspended' limit 1`,
      [customerId, now],
    )) !== undefined
  );
}

/**
 * Locks the customer's servers that a change of the balance affects: those suspended for balance, in billing
 * order, and those that renew within the window and whose customer was not notified of that cycle end.
 */
export async function lockAffectedServers(
  tx: Sql,
  customerId: string,
  now: Date,
): Promise<{
  readonly waiting: readonly BillingServerRow[];
  readonly renewing: readonly BillingServerRow[];
}> {
  const rows = await tx.rows<BillingServerRow>(
    `select ${BILLING_COLUMNS} from ${SERVER_FROM}
      where s.customer_id = $1
        and (s.status = 'suspended' and s.suspended_reason = 'balance' and s.auto_renew and s.paid_until <= $2
             or s.status = 'suspended' and s.suspended_reason = 'negative_balance' and s.paid_until > $2
             or ${RENEWING_SQL} and s.paid_until > $2
                and s.paid_until <= $2::timestamptz + ${LOW_BALANCE_WINDOW_SQL}
                and s.low_notified_for is distinct from s.paid_until)
      order by ${BILLING_ORDER} for update of s`,
    [customerId, now],
  );
  return {
    waiting: rows.filter((row) => row.status === 'suspended'),
    renewing: rows.filter((row) => row.status !== 'suspended'),
  };
}

/** Lists the customer's servers suspended for balance, in billing order, with the monthly price as of now. */
export async function listWaitingServers(
  tx: Sql,
  customerId: string,
  now: Date,
): Promise<Omit<RenewalRow, 'paid_until'>[]> {
  return await tx.rows(
    `select s.id, s.billing_months, ${SERVER_PRICE},
            ${announcedPriceSql('$2::timestamptz')} as announced_cents_month
       from servers s
      where s.customer_id = $1 and s.status = 'suspended' and s.suspended_reason = 'balance' and s.auto_renew
      order by ${BILLING_ORDER}`,
    [customerId, now],
  );
}

/** Locks a balance whose change the caller is processing. Returns it with whether a debit was made. */
export async function lockChangedBalance(
  tx: Sql,
  customerId: string,
): Promise<{ readonly balance_cents: bigint; readonly debited: boolean } | undefined> {
  return await tx.row(`select balance_cents, debited from balances where customer_id = $1 for update`, [
    customerId,
  ]);
}

export async function markBalanceChecked(tx: Sql, customerId: string): Promise<void> {
  await tx.run(`update balances set moved = false, debited = false where customer_id = $1`, [customerId]);
}

/** Records that the customer was notified: the balance cannot renew the cycle that ends at `paidUntil`. */
export async function setLowNotified(tx: Sql, id: string, paidUntil: Date): Promise<void> {
  await tx.run(`update servers set low_notified_for = $2 where id = $1`, [id, paidUntil]);
}

/** Records since when a renewal has been waiting, and when to check it again. */
export async function setAwaitingSince(
  tx: Sql,
  id: string,
  wait: { since: Date; billAt: Date },
): Promise<void> {
  await tx.run(`update servers set awaiting_since = $2, bill_at = $3 where id = $1`, [
    id,
    wait.since,
    wait.billAt,
  ]);
}

/**
 * Sets when a suspended server is checked again; `warnedDays` before its deletion its customer was warned.
 */
export async function setGracePeriod(
  tx: Sql,
  id: string,
  grace: { readonly destroyAt: Date; readonly warnedDays: number | null; readonly billAt: Date },
): Promise<void> {
  await tx.run(
    `update servers set destroy_at = $2, warned_days = $3, bill_at = $4, awaiting_since = null where id = $1`,
    [id, grace.destroyAt, grace.warnedDays, grace.billAt],
  );
}
