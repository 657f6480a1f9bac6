/** Plans by region with their availability, and prices by billing cycle. */
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, type CycleMonths } from '../../spec/limits.ts';
import { deployPath, PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Region } from '../../spec/schemas/plan.ts';
import { PLAN_CATEGORIES, type Plan } from '../../spec/schemas/plan.ts';
import { contactLink } from '../parts/brand.ts';
import { detailList, emptyState, section, statusBadge, table } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { exactUsd, formatGib, formatMemory, formatMonths, formatTib, usd } from '../parts/format.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

/** The price of a plan for one billing cycle, in US dollars. */
export interface CyclePrice {
  readonly months: CycleMonths;
  readonly total: number;
  readonly month: number;
  /** How much less it is than paying by month for as long. */
  readonly saving: number;
}

export interface SoldPlan extends Plan {
  readonly prices: readonly CyclePrice[];
  /** Regions that sell the plan, even if it is sold out there right now. */
  readonly sold_in: readonly string[];
  /** Sold only on request: customers cannot order it themselves. */
  readonly on_request: boolean;
}

/** For one plan, in a table or a list of details. */
export const TYPE_NAMES = { vps: 'Virtual server', dedicated: 'Dedicated server' } as const;
const CATEGORY_NAMES = { vps: 'Virtual servers', dedicated: 'Dedicated servers' } as const;

/** Null if ordering is open. `note` explains why it is closed, unless a banner already does. */
export type OrderingClosed = { readonly note: string | null } | null;

export interface OrderingState {
  readonly closed: OrderingClosed;
  /** Whether the host has published a contact, for plans on request. */
  readonly hasContact: boolean;
}

interface PlansData extends OrderingState {
  readonly plans: readonly SoldPlan[];
  readonly regions: readonly Region[];
  readonly chosen: { readonly category: string; readonly region: string; readonly months: CycleMonths };
  readonly forms: FormContext;
}

export function plansView(data: PlansData): View {
  return {
    title: 'Plans',
    section: 'plans',
    body: html`<p>You pay for a server in advance, from your balance, for 1, 3, 6, or 12 months. Longer
cycles cost less. Inbound traffic is not counted. Above the included traffic, we throttle the server and
never charge extra.</p>
${planFilterForm(data)}
<div id="plans">
${closedNote(data.closed)}
${planTables(data)}
${cyclePricesSection(data.plans)}
</div>`,
  };
}

function closedNote(closed: OrderingClosed): Html | null {
  return closed?.note ? html`<p class="banner warn">${closed.note}</p>` : null;
}

function planFilterForm({ regions, chosen, forms }: PlansData): Html {
  const fields = new Fields(forms, 'filter');
  const categories = PLAN_CATEGORIES.map((word) => [word, CATEGORY_NAMES[word]] as const);
  return html`<form method="get" class="filters" data-live="#plans"><div class="row">
${fields.select('category', 'Type', { value: chosen.category, choices: [['', 'All'], ...categories] })}
${fields.select('region', 'Region', {
  value: chosen.region,
  choices: [['', 'All'], ...regions.map(({ id, name }) => [id, name] as const)],
})}
${fields.select('months', 'Billing cycle', {
  value: String(chosen.months),
  choices: CYCLE_MONTHS.map((months) => [String(months), formatMonths(months)] as const),
})}
<button class="plain">Apply</button>
</div></form>`;
}

function planTables(data: PlansData): HtmlValue {
  const { plans, regions, chosen } = data;
  const shown = regions.filter(({ id }) => chosen.region === '' || id === chosen.region);
  const soldPlans = plans.filter(({ sold_in }) => shown.some(({ id }) => sold_in.includes(id)));
  if (soldPlans.length === 0) return emptyState('No matching plans.', 'Choose another region or type above.');
  return PLAN_CATEGORIES.map((category) => {
    const rows = soldPlans.filter((plan) => plan.category === category);
    return (
      rows.length > 0 &&
      section(CATEGORY_NAMES[category], planTable(category, rows, { ...data, regions: shown }))
    );
  });
}

function planTable(category: Plan['category'], plans: readonly SoldPlan[], data: PlansData): Html {
  const { regions, chosen } = data;
  return table({
    caption: `${CATEGORY_NAMES[category]}, prices for ${formatMonths(chosen.months)}`,
    columns: [
      'Plan',
      { name: formatMonths(chosen.months), class: 'number' },
      category === 'vps' ? 'vCPUs' : 'Cores',
      'Memory',
      'NVMe disk',
      'Traffic per month',
      ...regions.map(({ name }) => name),
    ],
    rows: plans.map((plan) => [
      planLink(plan.id),
      priceCell(plan, chosen.months),
      html`${plan.cpu} <span class="soft">${plan.cpu_model}</span>`,
      formatMemory(plan.ram_mb),
      formatGib(plan.disk_gb),
      formatTib(plan.transfer_tb),
      ...regions.map((region) => stockCell(plan, region, data, chosen.months)),
    ]),
  });
}

function priceCell(plan: SoldPlan, months: CycleMonths): Html | null {
  const price = plan.prices.find((each) => each.months === months);
  if (!price) return null;
  if (months === 1) return html`<strong>${usd(price.total)}</strong>`;
  return html`<strong>${usd(price.total)}</strong><br><span class="soft">${usd(price.month)} per
month</span>`;
}

/** Lists every plan with its price in every billing cycle. */
function cyclePricesSection(allPlans: readonly SoldPlan[]): Html | null {
  if (allPlans.length === 0) return null;
  const plans = PLAN_CATEGORIES.flatMap((category) => allPlans.filter((plan) => plan.category === category));
  const columns = CYCLE_MONTHS.map((months) => {
    const percent = CYCLE_DISCOUNT_PERCENT[months];
    return {
      name: `${formatMonths(months)}${percent === 0 ? '' : `, ${percent}% off`}`,
      class: 'number',
    } as const;
  });
  return section(
    'Prices by billing cycle',
    table({
      caption: 'Prices by billing cycle, total and per month',
      columns: ['Plan', ...columns],
      rows: plans.map((plan) => [
        planLink(plan.id),
        ...CYCLE_MONTHS.map((months) => priceCell(plan, months)),
      ]),
    }),
  );
}

/** Returns the availability of a plan in a region, with a link to deploy it. */
export function stockCell(
  plan: SoldPlan,
  region: Pick<Region, 'id' | 'name'>,
  { closed, hasContact }: OrderingState,
  months: CycleMonths = 1,
): Html {
  if (!plan.sold_in.includes(region.id)) return html`<span class="soft">not offered</span>`;
  if (plan.on_request)
    return html`${statusBadge('on request')}${hasContact && html` ${contactLink('Contact us', true)}`}`;
  if (!plan.available_in.includes(region.id)) return statusBadge('sold out');
  if (closed !== null) return statusBadge('available', 'good');
  const cycle = months === 1 ? {} : { billing_months: String(months) };
  const path = deployPath({ plan: plan.id, region: region.id, ...cycle });
  const link = html`<a href="${path}" aria-label="Deploy ${plan.id} in ${region.name}">Deploy</a>`;
  return html`${statusBadge('available', 'good')} ${link}`;
}

export function planView(
  data: OrderingState & { readonly plan: SoldPlan; readonly regions: readonly Region[] },
): View {
  const { plan, regions, closed } = data;
  const vps = plan.category === 'vps';
  return {
    title: `Plan ${plan.id}`,
    section: 'plans',
    breadcrumbs: [['Plans', PANEL_PATHS.plans]],
    body: html`${closedNote(closed)}
${detailList([
  ['Type', TYPE_NAMES[plan.category]],
  [vps ? 'vCPUs' : 'Cores', String(plan.cpu)],
  ['CPU model', plan.cpu_model],
  ['Memory', formatMemory(plan.ram_mb)],
  ['NVMe disk', formatGib(plan.disk_gb)],
  ['Traffic', html`${formatTib(plan.transfer_tb)} outbound per month; inbound traffic is not counted`],
  ['Price', html`${usd(plan.price_usd_month)} per month`],
  [
    'Price per hour',
    html`${usd(plan.price_usd_hour)} (exactly ${exactUsd(plan.price_usd_hour_exact)}), for comparison;
we don’t bill
by the hour`,
  ],
  ['ID', html`<code>${plan.id}</code>`],
])}
${section('Price by billing cycle', priceTable(plan))}
${section('Regions', regionsTable(plan, regions, data))}`,
  };
}

function priceTable(plan: SoldPlan): Html {
  return table({
    caption: 'Price by billing cycle',
    columns: [
      'Billing cycle',
      { name: 'Discount', class: 'number' },
      { name: 'Total', class: 'number' },
      { name: 'Per month', class: 'number' },
    ],
    rows: plan.prices.map(({ months, total, month }) => [
      formatMonths(months),
      formatDiscount(months),
      usd(total),
      usd(month),
    ]),
  });
}

function regionsTable(plan: SoldPlan, regions: readonly Region[], ordering: OrderingState): Html {
  return table({
    caption: `Regions of plan ${plan.id}`,
    columns: ['Region', 'Availability'],
    rows: regions.map((region) => [regionLink(region), stockCell(plan, region, ordering)]),
  });
}

export function planLink(id: string): Html {
  return html`<a href="${resourcePath(PANEL_PATHS.plans, id)}">${id}</a>`;
}

export function regionLink({ id, name }: Pick<Region, 'id' | 'name'>): Html {
  return html`<a href="${resourcePath(PANEL_PATHS.regions, id)}">${name}</a>`;
}

export function formatDiscount(months: CycleMonths): string {
  const percent = CYCLE_DISCOUNT_PERCENT[months];
  return percent === 0 ? 'None' : `${percent}%`;
}
