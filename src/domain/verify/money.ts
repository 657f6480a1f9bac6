/** Invariants of the ledger (DECISIONS "Ledger") and of top-ups: chain payments and their credits. */

import { BONUS_TIERS_USD } from '../../spec/limits.ts';
import { HOUSE } from '../ledger/transfer.ts';
import type { Invariant } from './invariant.ts';

const HOUSE_ACCOUNTS = Object.values(HOUSE)
  .map((id) => `'${id}'`)
  .join(', ');
const DELTA = 'case when credit_account = customer_id then amount_cents else -amount_cents end';

export const MONEY_INVARIANTS: readonly Invariant[] = [
  {
    name: 'transfers balance',
    description: 'every transfer moves one amount between two accounts, with a customer on one side',
    source: 'transfers',
    violations: `select id from transfers
      where debit_account = credit_account or amount_cents <= 0
         or customer_id not in (debit_account, credit_account)
         or case when debit_account = customer_id then credit_account else debit_account end
            not in (${HOUSE_ACCOUNTS})`,
  },
  {
    name: 'balances equal their transfers',
    description: 'each balance is the sum of its customer’s transfers',
    source: 'balances',
    violations: `select coalesce(b.customer_id, t.customer_id)
      from balances b
      full join (select customer_id, sum(${DELTA}) as cents from transfers group by customer_id) t
        on t.customer_id = b.customer_id
      where b.customer_id is null or b.balance_cents <> coalesce(t.cents, 0)`,
  },
  {
    name: 'customers have a balance',
    description: 'every customer has one balance row',
    source: 'customers',
    violations: `select c.id from customers c
      where not exists (select from balances b where b.customer_id = c.id)`,
  },
  {
    name: 'no balance is overspent',
    description: 'only a reversal can make a balance negative',
    source: 'transfers where debit_account = customer_id',
    violations: `select id from transfers
      where debit_account = customer_id and balance_after_cents < 0 and type <> 'reversal'
      union all
      select customer_id from balances b where balance_cents < 0
        and not exists (select from transfers t where t.customer_id = b.customer_id and t.type = 'reversal')`,
  },
  {
    name: 'negative balances have a start',
    description:
      'each negative balance, and no other, has the time since when it is negative, and a next check',
    source: 'balances',
    violations: `select customer_id from balances
      where (balance_cents < 0) <> (negative_since is not null)
         or (negative_since is null) <> (negative_check_at is null)`,
  },
  {
    name: 'balances after transfers form a chain',
    description:
      'in the order of booking, each balance is the previous one plus the amount, from 0 to the current one',
    source: 'transfers',
    violations: `select id from (
        select id, balance_after_cents, ${DELTA}
                 + lag(balance_after_cents, 1, 0::bigint) over (partition by customer_id order by booked_at)
                 as expected_cents
          from transfers) as step
       where balance_after_cents <> expected_cents
      union all
      select b.customer_id from balances b cross join lateral (
        select balance_after_cents, booked_at from transfers t where t.customer_id = b.customer_id
         order by booked_at desc limit 1) as latest
       where (latest.balance_after_cents, latest.booked_at) is distinct from (b.balance_cents, b.booked_at)`,
  },
  {
    name: 'reversals mirror their transfers',
    description: 'each reversal is the exact opposite of one transfer, and no transfer has two',
    source: `transfers where type = 'reversal'`,
    violations: `select r.id from transfers r left join transfers o on o.id = r.reverses
      where (r.type = 'reversal') <> (r.reverses is not null)
         or (r.reverses is not null
             and (o.id is null or o.type = 'reversal' or o.debit_account <> r.credit_account
                  or o.credit_account <> r.debit_account or o.amount_cents <> r.amount_cents
                  or exists (select from transfers x where x.reverses = r.reverses and x.id <> r.id)))`,
  },
];

const REVERSED = 'exists (select from transfers r where r.reverses = t.id)';
const TIERS = BONUS_TIERS_USD.map(([threshold, bonus]) => `(${threshold * 100}, ${bonus * 100})`).join(', ');

export const TOPUP_INVARIANTS: readonly Invariant[] = [
  {
    name: 'deposits match their credits',
    description: 'the credit of a deposit is valid and matches its top-up, customer, and amount',
    source: 'deposits',
    violations: `select d.coin || ':' || d.key
      from deposits d
      join topups p on p.id = d.topup_id
      left join transfers t on t.id = d.credit_transfer_id
      where (coalesce(d.credited_cents, 0) > 0) <> (d.credit_transfer_id is not null)
         or (d.credit_transfer_id is not null
             and (t.id is null or t.type <> 'topup' or t.resource_id <> d.topup_id
                  or t.customer_id <> p.customer_id
                  or t.amount_cents <> d.credited_cents or ${REVERSED}))`,
  },
  {
    name: 'deposits are credited once',
    description:
      'every valid top-up credit belongs to exactly one deposit, and every deposit has at most one',
    source: `transfers t where type = 'topup' and not ${REVERSED}`,
    violations: `select t.id from transfers t left join deposits d on d.credit_transfer_id = t.id
      where t.type = 'topup' and not ${REVERSED}
      group by t.id having count(d.key) <> 1`,
  },
  {
    name: 'top-ups add up',
    description: 'the credited amount of each top-up is the sum of its deposits that are not withheld',
    source: 'topups',
    violations: `select p.id from topups p left join deposits d on d.topup_id = p.id
      group by p.id
      having p.credited_cents <> coalesce(sum(d.credited_cents), 0)
          or bool_or(d.held and d.credited_cents is not null)`,
  },
  {
    name: 'bonuses fit their credits',
    description: 'each top-up has the bonus of its tier, and its bonus transfers add up to it',
    source: 'topups',
    violations: `select p.id from topups p
      left join transfers t on t.resource_id = p.id and t.type = 'bonus' and not ${REVERSED}
      group by p.id
      having p.bonus_paid_cents <> coalesce(sum(t.amount_cents), 0)
          or p.bonus_paid_cents <> coalesce((select max(bonus)
                                               from (values ${TIERS}) as tier (threshold, bonus)
                                              where threshold <= p.credited_cents), 0)
          or array(select unnest(p.bonus_transfers) order by 1)
             <> coalesce(array_agg(t.id order by t.id) filter (where t.id is not null), '{}')`,
  },
];
