/** How the service stands, for whoever wants to know. */
import { getCoin as coinOf } from '../spec/coins.ts';
import { PANEL_PATHS } from '../spec/paths.ts';
import type { Region } from '../spec/schemas/region.ts';
import type { SwitchName } from '../spec/switches.ts';
import { emptyState, section, statusBadge, table, time } from './components.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { regionLink } from './plans.ts';

/** A maintenance window that is not over. */
export interface StatusWindow {
  /** What it closes, in words; null: everything. */
  readonly affected: string | null;
  readonly from: string;
  readonly until: string;
  readonly isActive: boolean;
  readonly reason: string | null;
}

export interface StatusData {
  readonly windows: readonly StatusWindow[];
  /** Switches that are off; `reason` only where customers are told it anyway. */
  readonly switchedOff: readonly { readonly name: SwitchName; readonly reason: string | null }[];
  readonly regions: readonly Region[];
  readonly coins: readonly { readonly coin: string; readonly taken: boolean; readonly late: boolean }[];
  readonly now: string;
}

/** What a switch that is off means for customers. */
const SWITCH_OFF_TEXTS: Record<SwitchName, string> = {
  'topup-credit':
    'Payments are seen and confirmed, but not credited by themselves: the operator decides about each.',
  deploys: 'No new servers are sold. What was ordered is finished.',
  renewals: 'Nothing is renewed, charged or suspended by date until the operator goes on.',
  webhooks: 'Webhooks are not sent; what happens is kept and sent later. The event stream goes on.',
  mail: 'Mails are not sent; they wait, and are sent later.',
};

export function statusView(data: StatusData): View {
  const { windows, switchedOff } = data;
  const open = windows.filter((window) => window.isActive);
  // One that a host does not take is nothing unusual; none at all is.
  const late = data.coins.some((coin) => coin.taken && coin.late) || !data.coins.some((coin) => coin.taken);
  const isNormal = open.length === 0 && switchedOff.length === 0 && !late;
  return {
    title: 'Status',
    section: 'status',
    body: html`<p>${isNormal ? statusBadge('Everything runs.', 'good') : statusBadge('Not everything runs as usual: see below.', 'busy')} <span class="soft">As of ${time(data.now)}.</span></p>
${section('Maintenance', maintenance(windows))}
${switchedOff.length > 0 && section('Closed by the operator', switches(data))}
${section('Regions', regions(data))}
${section('Coins', coins(data))}`,
  };
}

function maintenance(windows: readonly StatusWindow[]): Html {
  if (windows.length === 0) return html`<p>None now, and none announced.</p>`;
  return table({
    caption: 'Maintenance windows',
    columns: ['What is closed', 'Now', 'From', 'Until', 'Why'],
    rows: windows.map((window) => [
      window.affected ?? 'everything',
      window.isActive ? statusBadge('closed', 'busy') : statusBadge('announced'),
      time(window.from),
      time(window.until),
      window.reason ?? '–',
    ]),
  });
}

function switches({ switchedOff }: StatusData): Html {
  return html`<ul>${switchedOff.map(({ name, reason }) => html`<li>${SWITCH_OFF_TEXTS[name]}${reason && html` (${reason})`}</li>\n`)}</ul>`;
}

function regions({ regions: rows }: StatusData): Html {
  if (rows.length === 0) return emptyState('There are no regions yet.', 'The operator has not opened any.');
  return html`${table({
    caption: 'New servers by region',
    columns: ['Region', 'New servers'],
    rows: rows.map((region) => [
      regionLink(region),
      region.available ? statusBadge('available', 'good') : statusBadge('sold out'),
    ]),
  })}
<p><a href="${PANEL_PATHS.plans}">Which plans, and where</a></p>`;
}

function coins({ coins: rows }: StatusData): Html {
  const taken = rows.filter((row) => row.taken);
  if (taken.length === 0) return html`<p>No coin can be paid in right now.</p>`;
  return table({
    caption: 'Payments by coin',
    columns: ['Coin', 'Network', 'Payments'],
    rows: taken.map(({ coin, late }) => [
      coin,
      coinOf(coin).network,
      late ? statusBadge('seen late', 'busy') : statusBadge('taken', 'good'),
    ]),
  });
}
