/** The amount that a limited token may spend, and the servers that it may create. */
import { fail } from '../../../kernel/fail.ts';
import { centsToUsd, formatCents } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { countCharge, readBudgets } from '../../../store/customers/token-limits.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import type { CustomerActor } from '../../context.ts';
import type { ActiveLimits } from './active.ts';

interface Cost {
  readonly cents: bigint;
  readonly servers: 0 | 1;
}

/**
 * Counts a charge that the caller makes in the same transaction, except for a deploy, whose statement counts
 * it. Refuses with `limit_reached`.
 */
export async function spend(
  tx: Sql,
  { limits, customerId }: CustomerActor,
  cents: bigint,
  now: Date,
): Promise<void> {
  if (!limits) return;
  // In the lock order of a deploy: the balance before the tokens.
  await lockBalance(tx, customerId);
  if (await countCharge(tx, { chain: limits.chain, cents, now })) return;
  await requireBudget(tx, limits, { cents, servers: 0 }, now);
  fail('auth_required');
}

/** Refuses a cost that a token of the chain may not spend now. Only the charge itself is a promise. */
export async function requireBudget(
  sql: Sql,
  limits: ActiveLimits | undefined,
  { cents, servers }: Cost,
  now: Date,
): Promise<void> {
  if (!limits) return;
  const budgets = await readBudgets(sql, limits.chain, now);
  if (budgets.length < limits.chain.length) fail('auth_required');
  for (const { spend_limit_cents: limit, spent, servers_limit: most, servers_count: used } of budgets) {
    if (servers > 0 && most !== null && used >= most) {
      const noun = most === 1 ? 'server' : 'servers';
      const message = `This token can have at most ${most} ${noun}; delete one first.`;
      fail('limit_reached', { field: 'limits.max_servers', limit: most, used }, message);
    }
    if (limit === null || spent + cents <= limit) continue;
    fail(
      'limit_reached',
      { field: 'limits.spend_usd', limit: centsToUsd(limit), used: centsToUsd(spent) },
      `This costs $${formatCents(cents)}. This token has spent $${formatCents(spent)} of its ` +
        `$${formatCents(limit)}.`,
    );
  }
}
