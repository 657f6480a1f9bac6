/** Balances below zero: since when, and when the calendar looks at them next. */
import type { Sql } from '../../kernel/sql.ts';
import { SERVER_COLUMNS, SERVER_FROM, type ServerRow } from '../servers/servers.ts';

/** Small against the tables, so that the planner uses their indexes. */
const BATCH_SIZE = 256;

/** Lists customers whose negative balance is due for a check, the most overdue first. */
export async function listNegativeChecks(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql.rows<{ customer_id: string }>(
    `select customer_id from balances where negative_check_at <= $1
      order by negative_check_at limit ${BATCH_SIZE}`,
    [now],
  );
  return rows.map((row) => row.customer_id);
}

/** Locks the customer's servers that are not suspended, the oldest first. */
export async function lockUnsuspendedServers(tx: Sql, customerId: string): Promise<ServerRow[]> {
  return await tx.rows<ServerRow>(
    `select ${SERVER_COLUMNS} from ${SERVER_FROM}
      where s.customer_id = $1 and s.status not in ('suspended', 'destroying')
      order by s.created_at, s.id for update of s`,
    [customerId],
  );
}

/** Returns since when the balance is negative, or null. Locks it until `tx` ends. */
export async function lockNegativeSince(tx: Sql, customerId: string): Promise<Date | null> {
  const row = await tx.row<{ negative_since: Date | null }>(
    'select negative_since from balances where customer_id = $1 for update',
    [customerId],
  );
  return row?.negative_since ?? null;
}

/** Returns since when the balance is negative, or null. */
export async function findNegativeSince(sql: Sql, customerId: string): Promise<Date | null> {
  const row = await sql.row<{ negative_since: Date | null }>(
    'select negative_since from balances where customer_id = $1',
    [customerId],
  );
  return row?.negative_since ?? null;
}

/** Sets the next check, unless the balance is no longer negative. */
export async function setNegativeCheck(sql: Sql, customerId: string, at: Date): Promise<void> {
  await sql.run(
    `update balances set negative_check_at = $2 where customer_id = $1 and negative_since is not null`,
    [customerId, at],
  );
}

export interface NegativeBalances {
  readonly n: bigint;
  /** Below zero. */
  readonly cents: bigint;
  /** The customers who owe the most. */
  readonly worst: readonly { readonly email: string; readonly cents: string }[];
}

/** Sums the balances below zero. */
export async function sumNegativeBalances(
  sql: Sql,
  { shown }: { readonly shown: number },
): Promise<NegativeBalances | undefined> {
  return await sql.row<NegativeBalances>(
    `with owing as (select b.balance_cents, c.email from balances b join customers c on c.id = b.customer_id
                     where b.negative_check_at is not null)
     select count(*) as n, coalesce(sum(balance_cents), 0)::bigint as cents,
            (select coalesce(json_agg(json_build_object('email', email, 'cents', balance_cents::text)), '[]')
               from (select * from owing order by balance_cents, email limit $1) as worst) as worst
       from owing`,
    [shown],
  );
}
