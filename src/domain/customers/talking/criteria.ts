/** The set of customers that a mailing goes to, from the criteria that staff chose. */
import { invalidRequest } from '../../../kernel/fail.ts';
import { parseUnits } from '../../../kernel/money.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { MailingCriteria, MailingKind } from '../../../spec/staff/talking.ts';
import { findPlanPrice, listRegions } from '../../../store/catalogue/catalogue.ts';
import type { RecipientFilter } from '../../../store/customers/mailings.ts';
import { findHostPlace } from '../../../store/inventory/hosts.ts';

type Field = keyof MailingCriteria;

/** Without empty criteria, in a fixed order. */
export function givenCriteria(criteria: MailingCriteria): MailingCriteria {
  const { servers, region, host, plan, tag, balance_below_usd, balance_above_usd, frozen, confirmed } =
    criteria;
  const all = {
    ...{ servers, region, host, plan, tag, balance_below_usd, balance_above_usd, frozen, confirmed },
  };
  const given = Object.entries(all).flatMap(([name, value]) => {
    const text = value?.trim() ?? '';
    return text === '' ? [] : [[name, text]];
  });
  return Object.fromEntries(given) as MailingCriteria;
}

/** Fails with `invalid_request` for a region, host, or plan that does not exist, and for a wrong amount. */
export async function toRecipientFilter(
  tx: Sql,
  kind: MailingKind,
  criteria: MailingCriteria,
): Promise<RecipientFilter> {
  const given = givenCriteria(criteria);
  const { servers, region, host, plan, tag, frozen, confirmed } = given;
  const hasServer = region !== undefined || host !== undefined || plan !== undefined;
  if (servers === 'no' && hasServer) {
    refuse('servers', 'Customers without servers have none in a region, on a host, or on a plan.');
  }
  if (region !== undefined && !(await listRegions(tx)).some(({ id }) => id === region)) {
    refuse('region', 'There is no such region.');
  }
  if (plan !== undefined && (await findPlanPrice(tx, plan)) === undefined) {
    refuse('plan', 'There is no such plan.');
  }
  const place = host === undefined ? undefined : await findHostPlace(tx, host);
  if (host !== undefined && !place) refuse('host', 'There is no such host.');
  const below = readCents('balance_below_usd', given);
  const above = readCents('balance_above_usd', given);
  return {
    ...(kind === 'news' && { news: true }),
    ...(servers === 'yes' && { hasServers: true }),
    ...(servers === 'no' && { hasNoServers: true }),
    ...(region !== undefined && { region }),
    ...(place && { hostId: place.id }),
    ...(plan !== undefined && { plan }),
    ...(tag !== undefined && { tag }),
    ...(below !== undefined && { belowCents: below }),
    ...(above !== undefined && { aboveCents: above }),
    ...(frozen !== undefined && { isFrozen: frozen === 'yes' }),
    ...(confirmed !== undefined && { isConfirmed: confirmed === 'yes' }),
  };
}

/** A balance can be negative. */
export function readCents(
  field: 'balance_below_usd' | 'balance_above_usd',
  criteria: MailingCriteria,
): bigint | undefined {
  const text = criteria[field]?.trim() ?? '';
  if (text === '') return undefined;
  const isNegative = text.startsWith('-');
  const cents = parseUnits(isNegative ? text.slice(1) : text, 2);
  if (cents === undefined || cents > 10n ** 15n) {
    refuse(field, 'Enter an amount in US dollars, such as 25.50 or -5.');
  }
  return isNegative ? -cents : cents;
}

function refuse(field: Field, message: string): never {
  return invalidRequest([{ field, issue: 'invalid_value' }], message);
}

const WORDS: Readonly<Record<Field, (value: string) => string>> = {
  servers: (value) => (value === 'yes' ? 'with servers' : 'without servers'),
  region: (value) => `with a server in ${value}`,
  host: (value) => `with a server on ${value}`,
  plan: (value) => `with a server of plan ${value}`,
  tag: (value) => `tagged ${value}`,
  balance_below_usd: (value) => `with a balance below ${value} USD`,
  balance_above_usd: (value) => `with a balance above ${value} USD`,
  frozen: (value) => (value === 'yes' ? 'frozen' : 'not frozen'),
  confirmed: (value) => (value === 'yes' ? 'with a confirmed address' : 'without a confirmed address'),
};

/** `all customers`, or `customers with servers, not frozen`. */
export function describeCriteria(kind: MailingKind, criteria: MailingCriteria): string {
  const given = Object.entries(givenCriteria(criteria)).map(([name, value]) => WORDS[name as Field](value));
  const words = given.length === 0 ? 'all customers' : `customers ${given.join(', ')}`;
  return kind === 'news' ? `${words}, who want news` : words;
}
