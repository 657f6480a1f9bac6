/** Cards of the front page: plans with a price by month or year, and regions with their measurements. */
import type { CycleMonths } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Region } from '../../spec/schemas/plan.ts';
import { statusBadge } from '../parts/components.ts';
import { formatGib, formatMemory, formatTib, usd } from '../parts/format.ts';
import { Html, html } from '../parts/html.ts';
import { deployTime, type MeasuredComponent, stateBadge } from './availability.ts';
import { countryName, flag } from './flags.ts';
import type { SoldPlan } from './plans.ts';

/** The cycles of the switch. */
export const SWITCH_MONTHS = [1, 12] as const satisfies readonly CycleMonths[];
export type SwitchMonths = (typeof SWITCH_MONTHS)[number];

/** Returns links that switch the prices. They need no scripts. */
export function priceSwitch(chosen: SwitchMonths): Html {
  const links = SWITCH_MONTHS.map((months) => {
    const current = months === chosen && new Html(' aria-current="true"');
    const path = months === 1 ? PANEL_PATHS.home : `${PANEL_PATHS.home}?months=${months}`;
    return html`<a href="${path}#plans"${current}>${months === 1 ? 'Monthly' : 'Yearly'}</a>`;
  });
  return html`<nav class="switch" aria-label="Prices by month or year">${links}</nav>`;
}

export function planCard(plan: SoldPlan, months: SwitchMonths): Html {
  const price = plan.prices.find((each) => each.months === months);
  if (!price) return html``;
  const paid =
    months === 1
      ? 'paid by month'
      : html`${usd(price.total)} for ${months} months, <b>save ${usd(price.saving)}</b>`;
  return html`<a class="card" href="${resourcePath(PANEL_PATHS.plans, plan.id)}"><strong>${plan.id}</strong>
<span class="price">${usd(price.month)}/mo</span>
<span>${paid}</span>
<span>${plan.cpu} ${plan.category === 'vps' ? 'vCPU' : 'cores'}, ${formatMemory(plan.ram_mb)} memory</span>
<span>${formatGib(plan.disk_gb)} NVMe, ${formatTib(plan.transfer_tb)} traffic per month</span></a>\n`;
}

/** `measured` is undefined for a region in which nothing is measured. */
export function regionCard(
  region: Region,
  plans: readonly SoldPlan[],
  measured: MeasuredComponent | undefined,
): Html {
  const sold = plans.filter(({ sold_in }) => sold_in.includes(region.id));
  const inStock = sold.filter(({ available_in }) => available_in.includes(region.id));
  const least = Math.min(...inStock.map((plan) => plan.price_usd_month));
  const time = measured && deployTime(measured);
  const hosts =
    measured &&
    measured.lost !== null &&
    html`<span>${measured.hosts_up} of ${measured.hosts} hosts reachable</span>`;
  return html`<a class="card" href="${resourcePath(PANEL_PATHS.regions, region.id)}"><strong>${flag(
    region.country,
  )} ${region.name}</strong>
<span>${countryName(region.country)}</span>
<span>${region.available ? statusBadge('available', 'good') : statusBadge('sold out')} ${
    measured && measured.lost !== 0 && stateBadge(measured)
  }</span>
<span>${inStock.length} of ${sold.length} plans in stock${
    inStock.length > 0 && html`, from ${usd(least)}/mo`
  }</span>
${hosts}
${time && html`<span>Ready in ${time}</span>`}</a>\n`;
}
