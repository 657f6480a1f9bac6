/**
 * The limits of tokens as stored, and their counters. A charge counts for each token of the chain, in its own
 * transaction. The update of the row repeats the check, so concurrent charges wait for each other.
 */
import type { Sql } from '../../kernel/sql.ts';
import type { Reach, SpendPeriod } from '../../spec/token-limits.ts';

/** The limits of one token of a chain. Missing: not limited. Networks are sealed, money is counted. */
export interface OwnLimits {
  readonly operations?: readonly string[];
  /** Public ids. */
  readonly resources?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly regions?: readonly string[];
}

/** All null for an unlimited token. */
export interface LimitColumns {
  readonly limit_chain: readonly string[] | null;
  readonly limits: readonly OwnLimits[] | null;
  readonly ip_cidrs_sealed: string | null;
}

export interface BudgetColumns {
  readonly spend_limit_cents: bigint | null;
  readonly spend_period: SpendPeriod;
  readonly servers_limit: number | null;
}

const MONTH = `date_trunc('month', $now::timestamptz at time zone 'UTC')::date`;

/** The amount that counts in the current period. */
export const SPENT_SQL = `case when t.spend_period = 'month' and t.spent_month is distinct from ${MONTH}
  then 0 else t.spent_cents end`;

/** Whether the token may spend `cents` more; with `servers`, also on one more server. */
export function isWithinBudget(cents: string, servers: 0 | 1): string {
  const spends = `(t.spend_limit_cents is null or ${SPENT_SQL} + ${cents} <= t.spend_limit_cents)`;
  return servers === 0
    ? spends
    : `(${spends} and (t.servers_limit is null or t.servers_count < t.servers_limit))`;
}

/** The assignments that count a charge. */
export function countedCharge(cents: string, servers: 0 | 1): string {
  const spent = `spent_cents = ${SPENT_SQL} + ${cents}, spent_month = ${MONTH}`;
  return servers === 0 ? spent : `${spent}, servers_count = t.servers_count + 1`;
}

/** Counts a charge for each token of the chain. Returns false if one may not spend it: then roll back. */
export async function countCharge(
  tx: Sql,
  charge: { readonly chain: readonly string[]; readonly cents: bigint; readonly now: Date },
): Promise<boolean> {
  const counted = await tx.run(
    `update api_tokens t set ${countedCharge('$cents', 0)}
      where t.id = any($chain::uuid[]) and ${isWithinBudget('$cents', 0)}`,
    charge,
  );
  return counted === charge.chain.length;
}

export interface BudgetRow extends BudgetColumns {
  readonly spent: bigint;
  readonly servers_count: number;
}

/** Reads the budgets of the chain, the outermost token first. */
export async function readBudgets(sql: Sql, chain: readonly string[], now: Date): Promise<BudgetRow[]> {
  return await sql.rows<BudgetRow>(
    `select t.spend_limit_cents, t.spend_period, t.servers_limit, t.servers_count, ${SPENT_SQL} as spent
       from api_tokens t where t.id = any($chain::uuid[]) order by cardinality(t.limit_chain)`,
    { chain, now },
  );
}

/**
 * Takes back what a server cost that could not be created, or was deleted before it ran. Call it before the
 * refund is booked under `fact`, so that it counts once.
 */
export async function returnCharge(
  tx: Sql,
  refund: { readonly serverId: string; readonly cents: bigint; readonly fact: string },
): Promise<void> {
  await tx.run(
    `update api_tokens t set spent_cents = greatest(t.spent_cents - $cents, 0)
       from servers s
      where s.id = $serverId and s.limited_by is not null and t.id = any(s.limited_by)
        and (t.spend_period = 'total'
             or t.spent_month = date_trunc('month', s.created_at at time zone 'UTC')::date)
        and not exists (select from transfers where fact = $fact)`,
    refund,
  );
}

/** Writes the limits of a token, those of its chain included, and ends its open event streams. */
export async function writeLimits(
  tx: Sql,
  row: LimitColumns & { readonly id: string; readonly reach: Reach | null },
): Promise<void> {
  const { id, limit_chain, limits, ip_cidrs_sealed, reach } = row;
  await tx.run(
    `with changed as (
       update api_tokens set limit_chain = $limit_chain::uuid[], limits = $limits::jsonb,
              ip_cidrs_sealed = $ip_cidrs_sealed, limits_version = limits_version + 1
        where id = $id returning id, customer_id)
     update webhooks w set limited_by = $limit_chain::uuid[], reach = $reach::jsonb from changed
      where w.customer_id = changed.customer_id and w.limited_by[cardinality(w.limited_by)] = changed.id`,
    {
      id,
      limit_chain,
      limits: limits && JSON.stringify(limits),
      ip_cidrs_sealed,
      reach: reach && JSON.stringify(reach),
    },
  );
}

/** Writes how much a token may spend, and how many servers it may have. */
export async function writeBudget(tx: Sql, id: string, budget: BudgetColumns): Promise<void> {
  await tx.run(
    `update api_tokens set spend_limit_cents = $spend_limit_cents, spend_period = $spend_period,
            servers_limit = $servers_limit where id = $id`,
    { id, ...budget },
  );
}
