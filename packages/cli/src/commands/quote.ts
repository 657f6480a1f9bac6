import type { CreateQuote, Quote, Skerry } from '@skerry/sdk';
import { command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { FIND_SERVER, findServer } from '../find.ts';
import { CYCLE_MONTHS, CYCLES } from '../limits.ts';
import { omitUndefined } from '../lists.ts';
import { flag, text } from '../options.ts';
import { amounts, type Column, fields, formatUsd, hidden, times } from '../output/format.ts';

const QUOTE_COLUMNS: readonly Column<Quote>[] = [
  { name: 'for', value: ({ lines }) => lines.map(({ description }) => description) },
  ...amounts<Quote>('due_now_usd', 'credit_usd', 'renews_usd'),
  { name: 'left_usd', value: ({ balance_after_usd }) => formatUsd(balance_after_usd) },
  { name: 'topup_usd', value: ({ topup }) => formatUsd(topup?.amount_usd) },
  ...fields<Quote>('available'),
  ...hidden([
    ...fields<Quote>('id', 'operation'),
    ...times<Quote>('renews_at', 'cycle_ends_at', 'expires_at'),
  ]),
];

export const quote = command({
  name: 'quote',
  about: 'Show the price of an operation and whether it is possible now',
  help: `Quotes a new server with --plan, for all billing cycles unless you select one; starting a server with
--start; resizing one with --resize and --plan; or deleting one with --delete. due_now_usd is charged
now, credit_usd comes back, and left_usd is the remaining balance. topup_usd is the smallest top-up that
covers a deficit with its bonus. Nothing is ordered. With --check, the command exits with 7 if the
operation is not possible now; without --billing-months, the shortest cycle decides.`,
  operations: ['quotes.create', ...FIND_SERVER],
  options: {
    plan: text('id', 'ID of the plan of a new server, or of --resize', { completionKind: 'plan' }),
    region: text('code', 'Region of a new server (default: any)', { completionKind: 'region' }),
    billingMonths: text('months', 'Show only this billing cycle', { choices: CYCLES }),
    start: text('server', 'Quote starting this server: name or ID', { completionKind: 'server' }),
    resize: text('server', 'Quote resizing this server to --plan: name or ID', {
      completionKind: 'server',
    }),
    delete: text('server', 'Quote deleting this server: name or ID', { completionKind: 'server' }),
    check: flag('Exit with 7 if the operation is not possible now'),
  },
  columns: QUOTE_COLUMNS,
  example: 'skerry quote --plan s2 --region par --billing-months 12',
  run: async ({ skerry, output, terminal }, { check, ...options }) => {
    const quotes: Quote[] = [];
    for (const body of await readRequests(skerry, options)) quotes.push(await skerry.quotes.create(body));
    const [first] = quotes;
    if (first) requireKnown(first, options);
    output.list(quotes, QUOTE_COLUMNS);
    const reason = first && explainRefusal(first);
    if (check && reason !== undefined) throw new Failure('refused', reason);
    if (reason !== undefined) terminal.warn(`skerry: ${reason}`);
    if (first?.balance_after_usd === null)
      terminal.note('Balance unknown: it requires a token with scope billing.');
  },
});

interface QuoteOptions {
  readonly plan: string | undefined;
  readonly region: string | undefined;
  readonly billingMonths: string | undefined;
  readonly start: string | undefined;
  readonly resize: string | undefined;
  readonly delete: string | undefined;
}

/** Returns one request, or one for each billing cycle. */
async function readRequests(skerry: Skerry, options: QuoteOptions): Promise<readonly CreateQuote[]> {
  const { plan, region, billingMonths, start, resize, delete: removed } = options;
  const operations = [resize ?? plan, start, removed].filter((one) => one !== undefined);
  if (operations.length !== 1)
    throw new Failure('usage', 'use one of --plan, --start, --resize, and --delete');
  if (resize !== undefined) {
    if (plan === undefined) throw new Failure('usage', '--resize requires --plan');
    const { id: resource } = await findServer(skerry, resize);
    return [{ operation: 'server.resize', resource, params: { plan, restart: true } }];
  }
  if (start !== undefined) {
    return [{ operation: 'server.start', resource: (await findServer(skerry, start)).id }];
  }
  if (removed !== undefined) {
    return [{ operation: 'server.delete', resource: (await findServer(skerry, removed)).id }];
  }
  const cycles = CYCLE_MONTHS.filter(
    (months) => billingMonths === undefined || months === Number(billingMonths),
  );
  return cycles.map((months) => {
    const params = { plan: plan ?? '', billing_months: months, ...omitUndefined({ region }) };
    return { operation: 'server.create', params };
  });
}

/** Fails if the plan or the region does not exist. */
function requireKnown({ errors }: Quote, options: QuoteOptions): void {
  const kind = (['plan', 'region'] as const).find((field) =>
    errors.some((item) => item.field === field && item.issue === 'not_found'),
  );
  if (kind === undefined) return;
  throw new Failure('not_found', `${kind} "${options[kind]}" not found; see \`skerry ${kind} list\``);
}

/** Returns why the operation is not possible, and how to pay for it; undefined if it is possible. */
function explainRefusal({ refusal, topup }: Quote): string | undefined {
  if (refusal === null || topup === null) return refusal?.message;
  const bonus = topup.bonus_usd > 0 ? `, which earns a bonus of $${topup.bonus_usd}` : '';
  return `${refusal.message} Run skerry topup --amount-usd ${topup.amount_usd.toFixed(2)}${bonus}`;
}
