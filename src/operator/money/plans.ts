/** `plans list`, `plans show`, `plans set-price`: what new orders cost, and who pays for a plan. */
import type { Command } from 'commander';
import {
  listPlanObjects,
  type PlanObject,
  type PlanWithPrices,
  readPlanObject,
  setPlanPrice,
} from '../../domain/catalogue/plans.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { addPlanEdits } from '../catalogue-edits.ts';
import type { OperatorContext } from '../context.ts';
import { formatCount } from '../format/table.ts';

const HEADING = ['plan', 'USD', 'servers', 'customers', 'they pay', 'regions', ''];

export function addPlans(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const plans = program.command('plans').description('Show and change plans, and what new orders cost');
  plans
    .command('list')
    .description('List plans with their prices, and the servers that renew')
    .action(async () => {
      const { service } = await resources.service();
      const objects = await listPlanObjects(service);
      terminal.table(HEADING, objects.map(planColumns));
      terminal.document(objects);
    });
  plans
    .command('show')
    .argument('<plan>', 'Plan, such as s1')
    .option('--usd-month <price>', 'Show what this price would change')
    .description('Show one plan, and what another price would change')
    .action(async (plan: string, { usdMonth }: { readonly usdMonth?: string }) => {
      const { service } = await resources.service();
      const shown = await readPlanObject(service, plan, usdMonth);
      terminal.facts(planFacts(shown));
      terminal.document(shown);
    });
  plans
    .command('set-price')
    .argument('<plan>', 'Plan, such as s1')
    .requiredOption('--usd-month <price>', 'US dollars per month, such as 12.50')
    .option('-y, --yes', 'Skip the confirmation')
    .description('Show what a price changes, then set it for new orders')
    .action(async (plan: string, options: { readonly usdMonth: string; readonly yes?: true }) => {
      const { service } = await resources.service();
      const shown = await readPlanObject(service, plan, options.usdMonth);
      terminal.facts(planFacts(shown));
      if (!options.yes) {
        if (!terminal.ask) throw new OperatorError('nothing was changed: pass --yes to set the price');
        if (!(await terminal.ask('Set this price?'))) return terminal.out('nothing was changed');
      }
      const order = { plan, price: options.usdMonth, was: String(shown.price_usd) };
      await recordCommandOn(service, 'plans.set_price', { kind: 'plan', name: plan }, () =>
        setPlanPrice(service, order),
      );
      terminal.out(`new orders of ${plan} cost ${options.usdMonth} USD; existing servers keep their price`);
    });
  addPlanEdits(plans, context);
}

function planColumns(row: PlanObject): string[] {
  return [
    row.id,
    row.price_usd.toFixed(2),
    String(row.servers),
    String(row.customers),
    row.monthly_usd.toFixed(2),
    row.regions.join(' '),
    row.active ? '' : 'retired',
  ];
}

function planFacts({ preview, ...row }: PlanWithPrices): [string, string | null][] {
  const announced = row.announced.filter(({ state }) => state === 'announced');
  const affected =
    preview &&
    `${formatCount(preview.servers, 'server')} of ${formatCount(preview.customers, 'customer')}, which pay ` +
      `${preview.monthly_usd.toFixed(2)} USD and would pay ${preview.new_monthly_usd.toFixed(2)}`;
  return [
    ['plan', row.active ? row.id : `${row.id}, retired`],
    ['new orders', `${row.price_usd.toFixed(2)} USD per month`],
    ['new price', preview && `${preview.price_usd.toFixed(2)} USD (${preview.change_percent} %)`],
    ['servers that renew', `${row.servers}, of ${formatCount(row.customers, 'customer')}`],
    ['they pay', `${row.monthly_usd.toFixed(2)} USD per month`],
    ['announced', announced.map((each) => `${each.price_usd} from ${each.effective_at}`).join(', ') || null],
    ['an announcement would change', affected],
  ];
}
