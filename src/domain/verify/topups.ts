/** Invariants of top-ups: chain payments and their credits. */
import { BONUS_TIERS_USD } from '../../spec/limits.ts';
import type { Invariant } from './invariant.ts';

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
