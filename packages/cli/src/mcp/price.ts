/** The price of a call in sentences, and what holds the call to it. */
import type { CreateQuote, Quote, Skerry } from '@skerry/sdk';
import { Failure } from '../exit-codes.ts';
import type { Arguments, Operation } from './contract.ts';

export interface Price {
  readonly charges: boolean;
  readonly text: string;
  /** Arguments of the call, with which nothing above the price is charged. */
  readonly limits: Arguments;
}

/** Null: the call is free. Fails with the service's reason if the operation is not possible now. */
export async function fetchPrice(
  skerry: Skerry,
  { operation, quoted }: { readonly operation: Operation; readonly quoted: string | null },
  given: Arguments,
  signal: AbortSignal,
): Promise<Price | null> {
  if (quoted === null) {
    const turnsOn = operation.id === 'backup_policies.replace' && given.enabled === true;
    return turnsOn ? await fetchBackupPrice(skerry, given, signal) : null;
  }
  const quote = await fetchQuote(skerry, quoted, operation, given, signal);
  const takesQuote = Object.hasOwn(operation.input.properties, 'quote');
  const limits = takesQuote ? { quote: quote.id } : {};
  return { charges: isCharged(quote), text: describePrice(quote), limits };
}

/** By a cent, rounding may raise the price from one moment to the next. */
const ROUNDING_USD = 0.01;

/** Backups have no quote: their policy has the price. Null: they are free, or already paid for. */
async function fetchBackupPrice(
  { backupPolicies }: Skerry,
  given: Arguments,
  signal: AbortSignal,
): Promise<Price | null> {
  const policy = await backupPolicies.get(String(given.id), { signal });
  const { enabled, price_usd_now: now, price_usd_cycle: cycle } = policy;
  if (enabled || cycle === 0) return null;
  const text = `Charges ${formatPrice(now)} now, and ${formatPrice(cycle)} with each renewal.`;
  const quoted = Math.round((now + ROUNDING_USD) * 100) / 100;
  const wanted = typeof given.max_price_usd === 'number' ? given.max_price_usd : quoted;
  return { charges: true, text, limits: { max_price_usd: Math.min(wanted, quoted) } };
}

async function fetchQuote(
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

function isCharged({ due_now_usd: due }: Quote): boolean {
  return due !== null && due > 0;
}

/** `Charges $5.00 now (s1 in par, 1 month). Renews at $5.00 on 2026-01-31.` */
function describePrice(quote: Quote): string {
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
