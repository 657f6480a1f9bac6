/** The choices for a new server: plans with their prices and stock, regions, and billing cycles. */
import { CYCLE_DISCOUNT_PERCENT, CYCLE_MONTHS, LIMITS } from '../../spec/limits.ts';
import type { Plan } from '../../spec/schemas/plan.ts';
import type { Fields } from '../parts/form.ts';
import { formatGib, formatMemory, formatMonths, formatTib, usd } from '../parts/format.ts';
import { Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { DeployData } from './deploy-data.ts';

/** Returns a group of radio buttons or checkboxes with its error. */
export function choiceGroup(fields: Fields, field: string, legend: string, choices: Html): Html {
  const problem = fields.problem(field) !== null;
  const described = problem && html` aria-describedby="${fields.id(field)}-problem"`;
  return html`<fieldset${described}><legend>${legend}</legend>
${choices}${fields.notes(field)}</fieldset>`;
}

const PLAN_GROUPS = [
  ['vps', 'Virtual servers'],
  ['dedicated', 'Dedicated servers'],
] as const;

export function planChoices(data: DeployData, fields: Fields): Html {
  const { plans, chosen } = data;
  const card = (plan: Plan) => {
    const isDisabled = plan.available_in.length === 0;
    const cpus = plan.category === 'vps' ? 'vCPU' : 'cores';
    const specs = [
      `${plan.cpu} ${cpus}`,
      `${formatMemory(plan.ram_mb)} memory`,
      `${formatGib(plan.disk_gb)} NVMe`,
      `${formatTib(plan.transfer_tb)} outbound per month`,
    ].join(', ');
    const label = html`<strong>${plan.id}</strong> <span class="per-month">${prices(plan, data)}</span>
<small>${specs}</small> <small>${stock(plan, data)}</small>`;
    return fields.radio('plan', plan.id, label, {
      checked: !isDisabled && plan.id === chosen.plan,
      disabled: isDisabled,
    });
  };
  return html`${PLAN_GROUPS.map(([category, name]) => {
    const cards = plans.filter((plan) => plan.category === category).map(card);
    return cards.length > 0 && html`<p class="soft">${name}</p><div class="choices offers">${cards}</div>\n`;
  })}`;
}

/** The price per month, and that of the whole cycle where it is another. */
function prices({ id, cycles, price_usd_month }: Plan, { monthUsd, chosen }: DeployData): Html {
  const cycle = cycles.find(({ billing_months: months }) => months === chosen.months);
  const term =
    cycle &&
    chosen.months > 1 &&
    html` <small>${usd(cycle.price_usd)} for ${formatMonths(chosen.months)}</small>`;
  return html`${usd(monthUsd.get(id) ?? price_usd_month)} per month${term}`;
}

/** Where the plan is in stock, and where it is sold out. */
function stock(plan: Plan, { onRequest, regions, soldIn }: DeployData): string {
  if (onRequest.has(plan.id)) return 'On request';
  const names = (ids: readonly string[]) =>
    regions
      .filter(({ id }) => ids.includes(id))
      .map(({ name }) => name)
      .join(', ');
  const soldOut = (soldIn.get(plan.id) ?? []).filter((id) => !plan.available_in.includes(id));
  if (plan.available_in.length === 0) return 'Sold out';
  return `In stock: ${names(plan.available_in)}${soldOut.length > 0 ? `. Sold out: ${names(soldOut)}` : ''}`;
}

export function regionChoices({ regions, chosen }: DeployData, fields: Fields): Html {
  return html`${regions.map((region) => {
    const isLow = region.ipv4_pool_remaining < LIMITS.ipv4PoolWarning;
    const note = region.available ? isLow && ', few IPv4 addresses left' : ', sold out';
    const label = html`${region.name} <span class="soft">${region.country}${note}</span>`;
    const isDisabled = !region.available;
    return fields.radio('region', region.id, label, {
      checked: !isDisabled && region.id === chosen.region,
      disabled: isDisabled,
    });
  })}`;
}

export function cycleChoices({ chosen }: DeployData, fields: Fields): Html {
  return html`${CYCLE_MONTHS.map((months) => {
    const percent = CYCLE_DISCOUNT_PERCENT[months];
    const discount = percent > 0 && html` <span class="soft">${percent}% off</span>`;
    const label = html`${formatMonths(months)}${discount}`;
    return fields.radio('billing_months', String(months), label, { checked: months === chosen.months });
  })}`;
}

export function groupChoices({ groups, given }: DeployData, fields: Fields): Html | false {
  if (groups.length === 0) return false;
  const label = labelsOf(groups);
  const boxes = groups.map((group) => checkbox(`firewall_groups.${group.id}`, label(group), given));
  return choiceGroup(fields, 'firewall_groups', 'Firewall groups', html`${boxes}`);
}

export function volumeChoices({ volumes, regions, given }: DeployData, fields: Fields): Html | false {
  if (volumes.length === 0) return false;
  const label = labelsOf(volumes);
  const names = new Map(regions.map(({ id, name }) => [id, name]));
  const boxes = volumes.map((each) => {
    const region = names.get(each.region) ?? each.region;
    const text = `${label(each)}, ${formatGib(each.size_gb)} in ${region}`;
    return checkbox(`volumes.${each.id}`, text, given);
  });
  return choiceGroup(fields, 'volumes', 'Volumes to attach', html`${boxes}`);
}

export function checkbox(name: string, text: string, ticked: { has(name: string): boolean }): Html {
  const input = html`<input type="checkbox" name="${name}"${ticked.has(name) && new Html(' checked')}>`;
  return html`<label class="choice">${input} <span>${text}</span></label>\n`;
}
