/** Measured availability: the state of each component, its last days as bars, and facts about regions. */
import { componentName, regionOf } from '../../spec/public-status.ts';
import { statusBadge } from '../parts/components.ts';
import { formatNumber, formatShare } from '../parts/format.ts';
import { Html, html } from '../parts/html.ts';
import type { RegionNames } from './incidents.ts';

/** A share is from 0 to 1, or null if it was not measured. */
export interface MeasuredComponent {
  readonly component: string;
  /** How much is unavailable now. */
  readonly lost: number | null;
  readonly hosts: number | null;
  readonly hosts_up: number | null;
  readonly free_share: number | null;
  readonly deploys: number | null;
  readonly deploy_median_s: number | null;
  /** How available it was: over all days, and by day, oldest first. The last day is today. */
  readonly available: number | null;
  readonly days: readonly (number | null)[];
}

const DAY_MS = 86_400_000;
/** A day below this share has a bar of the worst kind. */
const BAD_BELOW = 0.99;
const DAYS_NAMED = 10;

/** Returns components with their bars. `now` is an RFC 3339 time. */
export function componentList(
  components: readonly MeasuredComponent[],
  regions: RegionNames,
  now: string,
): Html {
  const items = components.map((one) => {
    const share = one.available === null ? 'not measured yet' : `${formatShare(one.available)} available`;
    return html`<li><p><strong>${componentName(one.component, regions)}</strong> ${stateBadge(one)}
<span class="soft">${share}</span></p>
${dayBars(one.days, now)}</li>\n`;
  });
  const count = components[0]?.days.length ?? 0;
  return html`<ul class="components">
${items}</ul>
<p class="soft legend">Each bar is one of the last ${count} days, today last: <i></i> no outage measured,
<i class="s"></i> at least ${formatShare(BAD_BELOW)}, <i class="b"></i> less, <i class="n"></i> not
measured. We measure every minute. Planned maintenance is not counted.</p>`;
}

/** The state of a component now. */
export function stateBadge({ component, lost, hosts, hosts_up }: MeasuredComponent): Html {
  if (lost === null) return statusBadge('not measured');
  if (lost === 0) return statusBadge('operational', 'good');
  const isRegion = regionOf(component) !== null && hosts !== null && hosts_up !== null;
  const word = isRegion ? `${hosts - hosts_up} of ${hosts} hosts unreachable` : 'limited';
  return lost < 1 ? statusBadge(word, 'busy') : statusBadge('outage', 'bad');
}

/** The days that are not perfect have their share as a tooltip, and in the text for screen readers. */
function dayBars(days: readonly (number | null)[], now: string): Html {
  const today = Date.parse(now);
  const bars: Html[] = [];
  const outages: string[] = [];
  days.forEach((share, index) => {
    if (share === null) bars.push(NOT_MEASURED);
    else if (share === 1) bars.push(NO_OUTAGE);
    else {
      const day = new Date(today - (days.length - 1 - index) * DAY_MS).toISOString().slice(0, 10);
      const text = `${day}: ${formatShare(share)}`;
      outages.unshift(text);
      bars.push(html`<i class="${share < BAD_BELOW ? 'b' : 's'}" title="${text}"></i>`);
    }
  });
  const measured = days.filter((share) => share !== null).length;
  return html`<div class="days" role="img" aria-label="${describeDays(measured, outages)}">${bars}</div>`;
}

const NOT_MEASURED = new Html('<i class="n"></i>');
const NO_OUTAGE = new Html('<i></i>');

function describeDays(measured: number, outages: readonly string[]): string {
  const span = `Measured on ${measured} ${measured === 1 ? 'day' : 'days'}`;
  if (outages.length === 0) return `${span}, no outage`;
  const more = outages.length - DAYS_NAMED;
  const rest = more > 0 ? `, and ${more} more` : '';
  return `${span}, with outages on ${outages.length}: ${outages.slice(0, DAYS_NAMED).join(', ')}${rest}`;
}

/** Capacity in words: how much exactly is left is nobody's business. */
export function capacityBadge({ free_share: free }: Pick<MeasuredComponent, 'free_share'>): Html | null {
  if (free === null) return null;
  if (free >= 0.25) return statusBadge('plenty', 'good');
  return free >= 0.05 ? statusBadge('limited', 'busy') : statusBadge('almost full', 'busy');
}

/** Formats the median of the deploys of the last week; null without deploys. */
export function deployTime({ deploys, deploy_median_s: median }: MeasuredComponent): string | null {
  if (deploys === null || deploys === 0 || median === null) return null;
  const text = median < 100 ? `${Math.max(1, Math.round(median))} s` : `${Math.round(median / 60)} min`;
  return `${text} (median of ${formatNumber(deploys)} in 7 days)`;
}
