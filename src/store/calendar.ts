/** What the calendar finds due: servers by `bill_at`, customers whose balance moved. */
import type { Sql } from '../kernel/sql.ts';
import { LOW_BALANCE_WINDOW_SQL } from './billing.ts';
import { SERVER_COLUMNS, SERVER_FROM, type ServerRow } from './servers.ts';

/** A server as billing sees it. */
export interface BillingServerRow extends ServerRow {
  readonly anchor_day: number;
  readonly awaiting_since: Date | null;
  readonly low_notified_for: Date | null;
  readonly destroy_at: Date | null;
  readonly warned_days: number | null;
  /** The price of a month that was announced for the cycle after the present one; null: the server's own. */
  readonly announced_cents_month: bigint | null;
}

const BILLING_COLUMNS = `${SERVER_COLUMNS}, s.anchor_day, s.awaiting_since, s.low_notified_for, s.destroy_at,
  s.warned_days, ${announcedPriceSql('s.paid_until')} as announced_cents_month`;

/** SQL for the announced price of a month that holds for a cycle of the server `s` from then on, or null. */
function announcedPriceSql(from: string): string {
  return `(select c.price_cents_month from price_changes c
            where c.plan_id = s.plan_id and c.cancelled_at is null and c.effective_at <= ${from}
              and c.announced_at > s.created_at order by c.effective_at desc limit 1)`;
}

/** By the end of their cycle, then by age. */
const BILLING_ORDER = 's.paid_until, s.created_at, s.id';
/** Servers whose next cycle is charged without being asked: those that have run, and are not suspended or going. */
const RENEWING_SQL = `s.auto_renew and s.first_run_at is not null and s.status in ('running', 'stopped', 'installing')`;

export interface CalendarWork {
  /** Whether the operator lets it work; null: as it is by default. */
  readonly on: boolean | null;
  readonly due: boolean;
  readonly moved: boolean;
  /** Whether customers are still to be told of an announced price. */
  readonly untold: boolean;
}

/**
 * One look at all that the calendar may have to do now. Each asks for the first in the order of its index: whether there
 * is any, a planner that expects many would look for in the table, from one end to the other when there is none.
 */
export async function findCalendarWork(sql: Sql, now: Date): Promise<CalendarWork | undefined> {
  return await sql.row<CalendarWork>(
    `select (select on_ from switches where name = 'renewals') as on,
            coalesce((select bill_at from servers where bill_at is not null order by bill_at limit 1) <= $1, false) as due,
            (select customer_id from balances where moved order by customer_id limit 1) is not null as moved,
            exists (select from price_changes where told_at is null and cancelled_at is null) as untold`,
    [now],
  );
}

/** When the calendar looks at a server next, or null. */
export async function nextBillAt(sql: Sql): Promise<Date | null> {
  const row = await sql.row<{ bill_at: Date }>(
    `select bill_at from servers where bill_at is not null order by bill_at limit 1`,
  );
  return row?.bill_at ?? null;
}

/** A batch is small against the tables, and the planner can see it. */
const BATCH_SIZE = 256;

/** Customers of a batch of servers that are due, the most overdue first, and how many of them are theirs. */
export async function listDueCustomers(
  sql: Sql,
  now: Date,
): Promise<{ readonly customerId: string; readonly servers: number }[]> {
  return await sql.rows(
    `select customer_id as "customerId", count(*)::int as servers from (
       select customer_id, bill_at from servers where bill_at <= $1 order by bill_at limit ${BATCH_SIZE}) as due
      group by customer_id order by min(bill_at), customer_id`,
    [now],
  );
}

/** One holder at a time for each customer, until `tx` ends: what is due at once has an order. False: another has it. */
export async function tryLockCalendar(tx: Sql, customerId: string): Promise<boolean> {
  const row = await tx.row<{ held: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('calendar:' || $1::text, 0)) as held`,
    [customerId],
  );
  return row?.held ?? false;
}

/** Locks the customer's server that is due and whose turn it is. The caller holds his calendar. */
export async function lockFirstDueServer(
  tx: Sql,
  customerId: string,
  now: Date,
): Promise<BillingServerRow | undefined> {
  return await tx.row<BillingServerRow>(
    `select ${BILLING_COLUMNS} from ${SERVER_FROM}
      where s.customer_id = $1 and s.bill_at <= $2 order by ${BILLING_ORDER} limit 1 for update of s`,
    [customerId, now],
  );
}

/** What a cycle costs that begins when the present one ends. */
export type RenewalRow = Pick<
  BillingServerRow,
  'id' | 'billing_months' | 'price_cents_month' | 'price_cents_cycle' | 'paid_until' | 'announced_cents_month'
>;

/** The customer's servers that renew until then. */
export async function listRenewingServers(tx: Sql, customerId: string, until: Date): Promise<RenewalRow[]> {
  return await tx.rows<RenewalRow>(
    `select s.id, s.billing_months, s.price_cents_month, s.price_cents_cycle, s.paid_until,
            ${announcedPriceSql('s.paid_until')} as announced_cents_month
       from servers s where s.customer_id = $1 and ${RENEWING_SQL} and s.paid_until <= $2`,
    [customerId, until],
  );
}

/**
 * Locks a batch of balances that moved since the calendar looked, and forgets it of those whose customers have nothing
 * that hangs on it: no server that waits for the balance, and after a debit none that renews within the window. Returns
 * how many there were, and the customers of the others. Whatever is suspended at the same time has locked its balance before, or waits for us.
 */
export async function claimChangedBalances(
  tx: Sql,
  now: Date,
): Promise<{ readonly count: number; readonly customerIds: readonly string[] }> {
  const locked = await tx.rows<{ customer_id: string }>(
    `select customer_id from balances where moved order by customer_id limit ${BATCH_SIZE} for update skip locked`,
  );
  const ids = locked.map((row) => row.customer_id);
  if (ids.length === 0) return { count: 0, customerIds: [] };
  const rows = await tx.rows<{ customer_id: string }>(
    `with quiet as (
       update balances b set moved = false, debited = false
        where b.customer_id = any($1)
          and not exists (select from servers s where s.customer_id = b.customer_id
                and (s.status = 'suspended' and s.suspended_reason = 'balance'
                     or b.debited and ${RENEWING_SQL} and s.paid_until <= $2::timestamptz + ${LOW_BALANCE_WINDOW_SQL}))
       returning b.customer_id)
     select id as customer_id from unnest($1::uuid[]) as asked (id)
      where id not in (select customer_id from quiet)`,
    [ids, now],
  );
  return { count: ids.length, customerIds: rows.map((row) => row.customer_id) };
}

/** Whether the end of a cycle is due for a server of the customer: that has its turn before what waits for the balance. */
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
 * Locks the customer's servers that a movement of his balance is about: those that wait for it, in their turn, and those that
 * renew within the window and whose end he was not told of.
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
             or ${RENEWING_SQL} and s.paid_until > $2 and s.paid_until <= $2::timestamptz + ${LOW_BALANCE_WINDOW_SQL}
                and s.low_notified_for is distinct from s.paid_until)
      order by ${BILLING_ORDER} for update of s`,
    [customerId, now],
  );
  return {
    waiting: rows.filter((row) => row.status === 'suspended'),
    renewing: rows.filter((row) => row.status !== 'suspended'),
  };
}

/** The customer's servers that wait for the balance, in their turn, and what a month costs from now on. */
export async function listWaitingServers(
  tx: Sql,
  customerId: string,
  now: Date,
): Promise<Omit<RenewalRow, 'paid_until'>[]> {
  return await tx.rows(
    `select s.id, s.billing_months, s.price_cents_month, s.price_cents_cycle,
            ${announcedPriceSql('$2::timestamptz')} as announced_cents_month
       from servers s
      where s.customer_id = $1 and s.status = 'suspended' and s.suspended_reason = 'balance' and s.auto_renew
      order by ${BILLING_ORDER}`,
    [customerId, now],
  );
}

/** Locks the balance, whose movements the caller has looked at; in cents, and whether something was taken. */
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

/** The customer was told that the balance cannot renew the cycle that ends then. */
export async function setLowNotified(tx: Sql, id: string, paidUntil: Date): Promise<void> {
  await tx.run(`update servers set low_notified_for = $2 where id = $1`, [id, paidUntil]);
}

/** It waits, since then, and is looked at again. */
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

/** A suspended server is looked at again; its customer was warned `warnedDays` before its end. */
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
