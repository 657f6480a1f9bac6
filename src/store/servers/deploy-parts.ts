/** Parts of the deploy statement that not every order needs: a limited token, and an idempotency key. */
import { countedCharge, isWithinBudget } from '../customers/token-limits.ts';
import { storeResponseSql } from '../idempotency.ts';

/** The parts of the statement for a limited token: it counts for each token of `$limit_chain`. */
export interface LimitParts {
  readonly place: string;
  readonly columns: string;
  readonly values: string;
  /** Counts the charge. If a token was used up meanwhile, the statement conflicts and is tried again. */
  readonly count: string;
  readonly isCounted: string;
}

export const UNLIMITED: LimitParts = { place: '', columns: '', values: '', count: '', isCounted: 'true' };

const IN_BUDGET = isWithinBudget('$price_cents_cycle', 1);
export const LIMITED: LimitParts = {
  place: `and not exists (select from unnest($limit_chain::uuid[]) as chain (id)
                 left join api_tokens t on t.id = chain.id where t.id is null or not ${IN_BUDGET})`,
  columns: 'limited_by, ',
  values: '$limit_chain::uuid[], ',
  count: `counted as (
  update api_tokens t set ${countedCharge('$price_cents_cycle', 1)}
   where t.id = any($limit_chain::uuid[]) and exists (select from debit) and ${IN_BUDGET}
  returning t.id),`,
  isCounted: '(select count(*) from counted) = cardinality($limit_chain::uuid[])',
};

/** The parts of the statement that store its response. */
export interface ResponseParts {
  readonly store: string;
  readonly isTaken: string;
}

export const WITHOUT_RESPONSE: ResponseParts = { store: '', isTaken: 'false' };
export const WITH_RESPONSE: ResponseParts = {
  store: `response as (
  ${storeResponseSql('from debit')}
  returning i.customer_id),`,
  isTaken: 'not exists (select from response)',
};
