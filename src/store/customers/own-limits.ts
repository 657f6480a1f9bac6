/** Quotas that the operator set for one customer, by name; the others are those of the service. */
import type { Sql } from '../../kernel/sql.ts';

/** An expression on a row of `balances`: the customer's own limit, or else the parameter. */
export const ownLimitOr = (name: string, parameter: string) =>
  `coalesce((own_limits ->> '${name}')::int, ${parameter})`;

/** Null: none. */
export async function readOwnLimits(
  sql: Sql,
  customerId: string,
): Promise<Readonly<Record<string, number>> | null> {
  const row = await sql.row<{ own_limits: Record<string, number> | null }>(
    'select own_limits from balances where customer_id = $1',
    [customerId],
  );
  return row?.own_limits ?? null;
}

export async function writeOwnLimits(
  tx: Sql,
  customerId: string,
  limits: Readonly<Record<string, number>> | null,
): Promise<void> {
  await tx.run('update balances set own_limits = $2::jsonb where customer_id = $1', [
    customerId,
    limits && JSON.stringify(limits),
  ]);
}
