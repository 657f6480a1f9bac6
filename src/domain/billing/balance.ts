import { centsNumber, mulDiv } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, rfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Balance } from '../../spec/schemas/balance.ts';
import { readBalanceFacts } from '../../store/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';

const MONTHS_A_YEAR = 12n;
const DAYS_A_YEAR = 365n;

export async function getBalance(service: Service, actor: CustomerActor): Promise<Balance> {
  return await balanceObject(service.reads, actor.customerId, service.clock.now());
}

/** The customer's balance as the REST contract shows it. */
export async function balanceObject(sql: Sql, customerId: string, now: Date): Promise<Balance> {
  const facts = await readBalanceFacts(sql, customerId);
  if (!facts) throw new Error('the customer has no balance row');
  const { balance_cents, running, first_end, cents_month } = facts;
  return {
    object: 'balance',
    usd: centsNumber(balance_cents),
    as_of: rfc3339(now),
    runway_until: first_end === null ? null : first_end.toISOString().slice(0, 10),
    active_servers: Number(running),
    daily_cost_usd: centsNumber(mulDiv(cents_month, MONTHS_A_YEAR, DAYS_A_YEAR, 'half_up')),
    low_balance_at: first_end && rfc3339(new Date(first_end.getTime() - LIMITS.lowBalanceDays * DAY_MS)),
  };
}
