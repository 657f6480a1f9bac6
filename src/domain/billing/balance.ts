import { centsToUsd, mulDiv } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Balance } from '../../spec/schemas/balance.ts';
import { readBalanceSummary } from '../../store/ledger/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';

const MONTHS_PER_YEAR = 12n;
const DAYS_PER_YEAR = 365n;

export async function getBalance(service: Service, actor: CustomerActor): Promise<Balance> {
  return await balanceObject(service.reads, actor.customerId, service.clock.now());
}

/** Returns the customer's balance in the REST shape. */
export async function balanceObject(sql: Sql, customerId: string, now: Date): Promise<Balance> {
  const facts = await readBalanceSummary(sql, customerId);
  if (!facts) throw new Error('the customer has no balance row');
  const { balance_cents, running, first_end, cents_month } = facts;
  return {
    object: 'balance',
    usd: centsToUsd(balance_cents),
    as_of: formatRfc3339(now),
    runway_until: first_end === null ? null : first_end.toISOString().slice(0, 10),
    active_servers: Number(running),
    daily_cost_usd: centsToUsd(mulDiv(cents_month, MONTHS_PER_YEAR, DAYS_PER_YEAR, 'half_up')),
    low_balance_at:
      first_end && formatRfc3339(new Date(first_end.getTime() - LIMITS.lowBalanceDays * DAY_MS)),
  };
}
