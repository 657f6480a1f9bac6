import type { Plan } from '@skerry/sdk';
import type { Command } from '../command.ts';
import { CYCLE_MONTHS } from '../limits.ts';
import { listCommand } from '../lists.ts';
import { text } from '../options.ts';
import { amounts, type Column, fields, formatUsd, hidden } from '../output/format.ts';
import { describeCommand } from '../resources.ts';

const CATEGORIES = ['vps', 'dedicated'] as const;

const COLUMNS: readonly Column<Plan>[] = [
  ...fields<Plan>('id', 'category', 'cpu'),
  ...hidden(fields<Plan>('cpu_model')),
  ...fields<Plan>('ram_mb', 'disk_gb'),
  ...hidden(fields<Plan>('transfer_tb')),
  ...amounts<Plan>('price_usd_month'),
  { name: 'price_usd_hour', value: (plan) => plan.price_usd_hour_exact, hidden: true },
  ...CYCLE_MONTHS.flatMap((months): Column<Plan>[] => [
    {
      name: `discount_${months}_months`,
      value: (plan) => formatDiscount(findCycle(plan, months)),
      hidden: true,
    },
    {
      name: `price_usd_${months}_months`,
      value: (plan) => formatUsd(findCycle(plan, months)?.price_usd),
      hidden: true,
    },
  ]),
  ...fields<Plan>('available_in'),
];

type Cycle = Plan['cycles'][number];

function findCycle({ cycles }: Plan, months: number): Cycle | undefined {
  return cycles.find(({ billing_months }) => billing_months === months);
}

function formatDiscount(cycle: Cycle | undefined): string | null {
  return cycle ? `${cycle.discount_percent} %` : null;
}

const list = listCommand({
  name: 'plan list',
  about: 'List plans and their prices',
  help: 'Prices per billing cycle are in columns price_usd_1_months, …3…, …6…, and …12_months.',
  operations: ['plans.list'],
  options: {
    category: text('category', 'Filter by category: virtual or dedicated servers', { choices: CATEGORIES }),
  },
  columns: COLUMNS,
  example: 'skerry plan list --category vps -o columns=id,price_usd_month,price_usd_12_months',
  list: (skerry, query) => skerry.plans.list(query),
});

const describe = describeCommand(
  {
    word: 'plan',
    about: 'ID of the plan',
    find: (skerry, id) => skerry.plans.get(id),
    calls: ['plans.get'],
  },
  {
    about: 'Show a plan and its price per billing cycle',
    columns: COLUMNS,
    example: 'skerry plan describe s1',
  },
);

export const PLAN_COMMANDS: readonly Command[] = [list, describe];
