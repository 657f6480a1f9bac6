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
  about: 'Show the price of an order and whether you can place it now',
  help: `Compares all billing cycles unless you select one. month_usd is the price per month, cycle_usd
the price of one server for the cycle, total_usd the price of all servers, and left_usd the remaining
balance. topup_usd is the smallest top-up that covers the total with its bonus. Nothing is ordered. With
--check, the command exits with 7 if you could not place the order now; the default cycle is 1 month.`,
  operations: ['plans.get', 'balance.get'],
  options: {
    plan: requiredText('id', 'ID of the plan', { completionKind: 'plan' }),
    region: text('code', 'Region (default: any)', { completionKind: 'region' }),
    billingMonths: text('months', 'Show only this billing cycle', { choices: CYCLES }),
    count: integer('number', 'Number of servers (default: 1)', { min: 1, max: COUNT_MAX }),
    check: flag('Exit with 7 if you could not place the order now'),
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
    if (balanceUsd === null) terminal.note('Balance unknown: it requires a token with scope billing.');
    else terminal.note(`Balance: ${formatUsd(balanceUsd)} USD.`);
  },
});

export const QUOTE_COMMANDS: readonly Command[] = [quote];

async function getPlan(skerry: Skerry, id: string): Promise<Plan> {
  try {
    return await skerry.plans.get(id);
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
    throw new Failure('not_found', `plan "${id}" not found; see \`skerry plan list\``);
  }
}

/** Null: the token may not read the balance. */
async function getBalance(skerry: Skerry): Promise<number | null> {
  try {
    return (await skerry.balance.get()).usd;
  } catch (error) {
    if (isApiError(error, 'forbidden_scope')) return null;
    throw error;
  }
}

/** Tells an unknown region from a region where the plan is unavailable. */
async function requireRegion(skerry: Skerry, region: string): Promise<void> {
  try {
    await skerry.regions.get(region);
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
    throw new Failure('not_found', `region "${region}" not found; see \`skerry region list\``);
  }
}
