import { isApiError, type Plan, type Skerry } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { CYCLES } from '../../limits.ts';
import { flag, integer, requiredText, text } from '../../options.ts';
import { type Column, formatUsd } from '../../output/columns.ts';
import { blockingReasons, calculateQuote, type QuotedCycle } from './calculate-quote.ts';

const COUNT_MAX = 1_000;

const QUOTE_COLUMNS: readonly Column<QuotedCycle>[] = [
  { name: 'months', value: (cycle) => cycle.billing_months },
  { name: 'discount', value: (cycle) => `${cycle.discount_percent} %` },
  { name: 'month_usd', value: (cycle) => formatUsd(cycle.price_usd_month) },
  { name: 'cycle_usd', value: (cycle) => formatUsd(cycle.price_usd) },
  { name: 'total_usd', value: (cycle) => formatUsd(cycle.total_usd) },
  { name: 'left_usd', value: (cycle) => formatUsd(cycle.balance_after_usd) },
  { name: 'topup_usd', value: (cycle) => formatUsd(cycle.topup_usd) },
];

const quote = command({
  name: 'quote',
  about: 'Show what an order would cost, and whether it could be made now',
  help: `All cycles side by side unless one is named: month_usd is what a month comes to, cycle_usd the whole cycle of one server,
total_usd that of all, left_usd what is left of the balance. topup_usd is the least top-up that pays it, its bonus counted. Nothing is ordered.
With --check it leaves with 7 when the order could not be made now; without a cycle that of 1 month is meant.`,
  operations: ['plans.get', 'balance.get'],
  options: {
    plan: requiredText('id', 'The plan.', { completionKind: 'plan' }),
    region: text('code', 'Where; anywhere when left out.', { completionKind: 'region' }),
    billingMonths: text('months', 'Only this cycle.', { choices: CYCLES }),
    count: integer('number', 'How many servers; 1 when left out.', { min: 1, max: COUNT_MAX }),
    check: flag('Leave with 7 when it could not be ordered now.'),
  },
  columns: QUOTE_COLUMNS,
  example: 'skerry quote --plan s2 --region par --billing-months 12 --count 3',
  run: async ({ skerry, output, terminal }, { plan: id, region, billingMonths, count, check }) => {
    const plan = await getPlan(skerry, id);
    const balanceUsd = await getBalance(skerry);
    const months = billingMonths === undefined ? undefined : Number(billingMonths);
    const quoted = calculateQuote(plan, { region: region ?? null, months, count: count ?? 1, balanceUsd });
    if (region !== undefined && !quoted.deployable) await requireRegion(skerry, region);
    output.list(quoted.cycles, QUOTE_COLUMNS, quoted);
    const reasons = blockingReasons(quoted);
    if (check && reasons.length > 0) throw new Failure('refused', reasons.join('; '));
    for (const reason of reasons) terminal.warn(`skerry: ${reason}`);
    if (balanceUsd === null) terminal.note('The balance is not known: the token is not of scope billing.');
    else terminal.note(`The balance is ${formatUsd(balanceUsd)} USD.`);
  },
});

export const QUOTE_COMMANDS: readonly Command[] = [quote];

async function getPlan(skerry: Skerry, id: string): Promise<Plan> {
  try {
    return await skerry.plans.get(id);
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
    throw new Failure('not_found', `there is no plan "${id}": see \`skerry plan list\``);
  }
}

/** Null: the token may not read it. */
async function getBalance(skerry: Skerry): Promise<number | null> {
  try {
    return (await skerry.balance.get()).usd;
  } catch (error) {
    if (isApiError(error, 'forbidden_scope')) return null;
    throw error;
  }
}

/** A region that there is not is a slip of the hand, not one without room. */
async function requireRegion(skerry: Skerry, region: string): Promise<void> {
  try {
    await skerry.regions.get(region);
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
    throw new Failure('not_found', `there is no region "${region}": see \`skerry region list\``);
  }
}
