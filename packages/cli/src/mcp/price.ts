/** The price of a call, from a quote of the service, in sentences. */
import type { CreateQuote, Quote, Skerry } from '@skerry/sdk';
import { Failure } from '../exit-codes.ts';
import type { Arguments, Operation } from './contract.ts';

/** Fails with the service's reason if the operation is not possible now. */
export async function fetchQuote(
  skerry: Skerry,
  quoted: string,
  { ids }: Operation,
  given: Arguments,
  signal: AbortSignal,
): Promise<Quote> {
  const [idName = ''] = ids;
  const entries = Object.entries(given).filter(([name]) => !ids.includes(name));
  const params = entries.length > 0 || ids.length === 0 ? { params: Object.fromEntries(entries) } : {};
  const resource = ids.length > 0 ? { resource: given[idName] } : {};
  const body = { operation: quoted, ...resource, ...params } as unknown as CreateQuote;
  const quote = await skerry.quotes.create(body, { signal });
  if (quote.refusal === null) return quote;
  const items = quote.errors.map(({ field, issue, ...rest }) =>
    [field, issue, ...Object.entries(rest).map(([name, value]) => `${name} ${value}`)].join(' '),
  );
  const topup = quote.topup
    ? [`the smallest sufficient top-up is ${formatPrice(quote.topup.amount_usd)}`]
    : [];
  throw new Failure('refused', [quote.refusal.message, ...items, ...topup].join('; '));
}

export function isCharged({ due_now_usd: due }: Quote): boolean {
  return due !== null && due > 0;
}

/** `Charges $5.00 now (s1 in par, 1 month). Renews at $5.00 on 2026-01-31.` */
export function describePrice(quote: Quote): string {
  const { due_now_usd: due, credit_usd: credit, renews_usd: renews, renews_at: renewsAt } = quote;
  const { lines, balance_after_usd: balance } = quote;
  const what = lines.map(({ description }) => description).join(', ');
  const sentences = [
    due ? `Charges ${formatPrice(due)} now${what ? ` (${what})` : ''}.` : 'Charges nothing now.',
    credit ? `Returns ${formatPrice(credit)} to the balance.` : '',
    renews !== null && renewsAt !== null
      ? `Renews at ${formatPrice(renews)} on ${renewsAt.slice(0, 10)}.`
      : '',
    balance === null ? '' : `The balance is then ${formatPrice(balance)}.`,
  ];
  return sentences.filter(Boolean).join(' ');
}

function formatPrice(usd: number): string {
  return usd < 0 ? `-$${(-usd).toFixed(2)}` : `$${usd.toFixed(2)}`;
}
