import type { Plan } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { CYCLE_MONTHS } from '../../limits.ts';
import { given, LISTS, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { type Column, usd } from '../../output/columns.ts';

const CATEGORIES = ['vps', 'dedicated'] as const;

const COLUMNS: readonly Column<Plan>[] = [
  { name: 'id', of: (plan) => plan.id },
  { name: 'category', of: (plan) => plan.category },
  { name: 'cpu', of: (plan) => plan.cpu },
  { name: 'cpu_model', of: (plan) => plan.cpu_model, hidden: true },
  { name: 'ram_mb', of: (plan) => plan.ram_mb },
  { name: 'disk_gb', of: (plan) => plan.disk_gb },
  { name: 'transfer_tb', of: (plan) => plan.transfer_tb, hidden: true },
  { name: 'price_usd_month', of: (plan) => usd(plan.price_usd_month) },
  { name: 'price_usd_hour', of: (plan) => plan.price_usd_hour_exact, hidden: true },
  ...CYCLE_MONTHS.flatMap((months): Column<Plan>[] => [
    { name: `discount_${months}_months`, of: (plan) => discount(cycleOf(plan, months)), hidden: true },
    { name: `price_usd_${months}_months`, of: (plan) => usd(cycleOf(plan, months)?.price_usd), hidden: true },
  ]),
  { name: 'available_in', of: (plan) => plan.available_in },
];

type Cycle = Plan['cycles'][number];

function cycleOf({ cycles }: Plan, months: number): Cycle | undefined {
  return cycles.find(({ billing_months }) => billing_months === months);
}

function discount(cycle: Cycle | undefined): string | null {
  return cycle ? `${cycle.discount_percent} %` : null;
}

const list = command({
  name: 'plan list',
  aliases: ['ls'],
  about: 'List plans: what can be ordered, and what it costs',
  help: 'What each cycle costs is in columns price_usd_1_months, …3…, …6… and …12_months.',
  does: ['plans.list'],
  options: {
    category: text('category', 'Only virtual, or only dedicated servers.', { choices: CATEGORIES }),
    ...LISTS,
  },
  columns: COLUMNS,
  example: 'skerry plan list --category vps -o columns=id,price_usd_month,price_usd_12_months',
  run: async (context, { sort, limit, ...filter }) => {
    const query = given({ filter: given(filter), sort }) as object;
    await showList(context, context.skerry.plans.list(query), limit, COLUMNS);
  },
});

const describe = command({
  name: 'plan describe',
  aliases: ['get', 'show'],
  about: 'Show all of a plan, with what each cycle costs',
  does: ['plans.get'],
  args: { plan: arg('Id.', { completes: 'plan' }) },
  columns: COLUMNS,
  example: 'skerry plan describe s1',
  run: async ({ skerry, output }, { plan }) => {
    output.show(await skerry.plans.get(plan), COLUMNS);
  },
});

export const PLAN_COMMANDS: readonly Command[] = [list, describe];
