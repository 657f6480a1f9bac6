/** Regions: the list, and the page of one with its plans. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS } from '../../spec/paths.ts';
import type { Region } from '../../spec/schemas/plan.ts';
import { copyable, detailList, emptyState, section, statusBadge, table } from '../parts/components.ts';
import { formatNumber, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { countryName, flag } from './flags.ts';
import { type OrderingState, planLink, regionLink, type SoldPlan, stockCell, TYPE_NAMES } from './plans.ts';

export function regionsView({ regions }: { readonly regions: readonly Region[] }): View {
  const rows = regions.map((region) => [
    regionLink(region),
    html`${flag(region.country)} ${countryName(region.country)}`,
    html`<code>${region.id}</code>`,
    availabilityBadge(region),
  ]);
  return {
    title: 'Regions',
    section: 'plans',
    breadcrumbs: [['Plans', PANEL_PATHS.plans]],
    body:
      rows.length > 0
        ? table({ caption: 'Regions', columns: ['Region', 'Country', 'Code', 'Availability'], rows })
        : emptyState('No regions yet.', 'Regions are listed here once they open.'),
  };
}

export function regionView(
  data: OrderingState & {
    readonly region: Region;
    readonly plans: readonly SoldPlan[];
    /** Whether the visitor is signed in and may see what the API shows customers. */
    readonly signedIn: boolean;
  },
): View {
  const { region, plans, signedIn } = data;
  const left = region.ipv4_pool_remaining;
  return {
    title: region.name,
    section: 'plans',
    breadcrumbs: [
      ['Plans', PANEL_PATHS.plans],
      ['Regions', PANEL_PATHS.regions],
    ],
    body: html`${
      left < LIMITS.ipv4PoolWarning &&
      html`<p class="banner warn">${
        left === 0
          ? 'No IPv4 addresses are available in this region. You can’t deploy here until some are released.'
          : 'Few IPv4 addresses are left in this region. A deployment may have to wait.'
      }</p>`
    }
${detailList([
  ['Country', html`${flag(region.country)} ${countryName(region.country)} (${region.country})`],
  ['Code', html`<code>${region.id}</code>`],
  ['Point of presence', html`<code>${region.pop_id}</code>`],
  ['Availability', availabilityBadge(region)],
  ['IPv4 addresses', signedIn ? `${formatNumber(left)} available` : describePool(left)],
  ['Onion address', region.tor_onion === null ? 'None' : copyable(region.tor_onion)],
])}
${section('Plans', plansInRegion(region, plans, data))}`,
  };
}

function plansInRegion(region: Region, plans: readonly SoldPlan[], ordering: OrderingState): Html {
  const sold = plans.filter(({ sold_in }) => sold_in.includes(region.id));
  if (sold.length === 0)
    return emptyState(
      'No plans in this region.',
      html`<a href="${PANEL_PATHS.plans}">See plans in other regions</a>`,
    );
  return table({
    caption: `Plans in ${region.name}`,
    columns: ['Plan', 'Type', { name: 'Per month', class: 'number' }, 'Availability'],
    rows: sold.map((plan) => [
      planLink(plan.id),
      TYPE_NAMES[plan.category],
      usd(plan.price_usd_month),
      stockCell(plan, region, ordering),
    ]),
  });
}

function availabilityBadge({ available }: Region): Html {
  return available ? statusBadge('available', 'good') : statusBadge('sold out');
}

function describePool(left: number): string {
  if (left === 0) return 'None available';
  return left < LIMITS.ipv4PoolWarning ? 'Few available' : 'Available';
}
