/** The public status page. */
import { getCoin as coinOf } from '../../spec/coins.ts';
import { PANEL_PATHS, STATUS_PATHS } from '../../spec/paths.ts';
import { type PublicIncident, regionComponent } from '../../spec/public-status.ts';
import type { Region } from '../../spec/schemas/plan.ts';
import type { ServiceSwitch } from '../../spec/switches.ts';
import { coinName, coinUnit } from '../money/coin-names.ts';
import { emptyState, section, statusBadge, table, time } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { capacityBadge, componentList, deployTime, type MeasuredComponent } from './availability.ts';
import { incidentArticle } from './incidents.ts';
import { regionLink } from './plans.ts';

/** A maintenance window that has not ended. */
export interface StatusWindow {
  /** The affected part, in words; null for everything. */
  readonly affected: string | null;
  readonly from: string;
  readonly until: string;
  readonly isActive: boolean;
  readonly reason: string | null;
}

/** Measurements are taken by the minute. */
const REFRESH_S = 60;

interface StatusData {
  readonly components: readonly MeasuredComponent[];
  /** In progress, or planned. */
  readonly incidents: readonly PublicIncident[];
  readonly windows: readonly StatusWindow[];
  /** Switches that are off. `reason` is set only if customers may see it. */
  readonly switchedOff: readonly { readonly name: ServiceSwitch; readonly reason: string | null }[];
  readonly regions: readonly Region[];
  readonly coins: readonly {
    readonly coin: string;
    readonly taken: boolean;
    readonly late: boolean;
    readonly unpriced: boolean;
  }[];
  readonly now: string;
}

/** The effect on customers of each switch that is off. */
const SWITCH_OFF_TEXTS: Record<ServiceSwitch, string> = {
  'topup-credit': 'We see and confirm payments but review each one before we credit it.',
  deploys: 'New servers are unavailable. Servers that were already ordered are still installed.',
  renewals: 'Renewals, charges, and suspensions are paused.',
  webhooks: 'Webhooks are paused. We keep events and send them later. The event stream keeps working.',
  mail: 'Emails are paused. We keep them and send them later.',
};

export function statusView(data: StatusData): View {
  const { windows, switchedOff, incidents } = data;
  const names = new Map(data.regions.map(({ id, name }) => [id, name]));
  const open = windows.filter((window) => window.isActive);
  // A coin that this host does not accept is normal; accepting none at all is not.
  const late =
    data.coins.some((coin) => coin.taken && (coin.late || coin.unpriced)) ||
    !data.coins.some((coin) => coin.taken);
  const isAnnounced = incidents.some(({ state }) => state !== 'scheduled');
  const isNormal =
    !isAnnounced &&
    data.components.every(({ lost }) => lost === null || lost === 0) &&
    open.length === 0 &&
    switchedOff.length === 0 &&
    !late;
  return {
    title: 'Status',
    section: 'status',
    feed: STATUS_PATHS.feed,
    refreshS: REFRESH_S,
    body: html`<p>${
      isNormal
        ? statusBadge('All systems operational', 'good')
        : statusBadge('Some systems are affected. See below.', 'busy')
    } <span class="soft">As of ${time(data.now)}</span></p>
${incidents.map((incident) => incidentArticle(incident, names))}
${
  data.components.length > 0 &&
  section('Availability', componentList(data.components, names, data.now), 'availability')
}
${
  (windows.length > 0 || !incidents.some(({ kind }) => kind === 'maintenance')) &&
  section('Maintenance', maintenance(windows))
}
${switchedOff.length > 0 && section('Paused services', switches(data))}
${section('Regions', regions(data))}
${section('Coins', coins(data))}
<p><a href="${STATUS_PATHS.history}">History</a> · <a href="${STATUS_PATHS.feed}">Atom feed</a></p>`,
  };
}

function maintenance(windows: readonly StatusWindow[]): Html {
  if (windows.length === 0) return html`<p>No maintenance in progress or scheduled.</p>`;
  return table({
    caption: 'Maintenance windows',
    columns: ['Affected', 'Status', 'From', 'Until', 'Reason'],
    rows: windows.map((window) => [
      window.affected ?? 'Everything',
      window.isActive ? statusBadge('in progress', 'busy') : statusBadge('scheduled'),
      time(window.from),
      time(window.until),
      window.reason ?? '–',
    ]),
  });
}

function switches({ switchedOff }: StatusData): Html {
  const items = switchedOff.map(
    ({ name, reason }) => html`<li>${SWITCH_OFF_TEXTS[name]}${reason && html` (${reason})`}</li>\n`,
  );
  return html`<ul>${items}</ul>`;
}

function regions({ regions: rows, components }: StatusData): Html {
  const measured = new Map(components.map((one) => [one.component, one]));
  if (rows.length === 0) return emptyState('No regions yet.', 'Regions are listed here once they open.');
  return html`${table({
    caption: 'New servers by region',
    columns: ['Region', 'New servers', 'Hosts', 'Capacity', 'Time to deploy'],
    rows: rows.map((region) => {
      const own = measured.get(regionComponent(region.id));
      return [
        regionLink(region),
        region.available ? statusBadge('available', 'good') : statusBadge('sold out'),
        own ? `${own.hosts_up} of ${own.hosts} reachable` : '–',
        (own && capacityBadge(own)) ?? '–',
        (own && deployTime(own)) ?? '–',
      ];
    }),
  })}
<p><a href="${PANEL_PATHS.plans}">Availability by plan and region</a></p>`;
}

function coins({ coins: rows }: StatusData): Html {
  const taken = rows.filter((row) => row.taken);
  if (taken.length === 0) return html`<p>No coins are accepted right now.</p>`;
  return table({
    caption: 'Payments by coin',
    columns: ['Coin', 'Network', 'Payments'],
    rows: taken.map(({ coin, late, unpriced }) => [
      `${coinName(coin)} (${coinUnit(coin)})`,
      coinOf(coin).network,
      paymentsBadge(late, unpriced),
    ]),
  });
}

function paymentsBadge(late: boolean, unpriced: boolean): Html {
  if (unpriced) return statusBadge('no new top-ups: no exchange rate', 'busy');
  return late ? statusBadge('delayed', 'busy') : statusBadge('accepted', 'good');
}
