/** A server's overview: status, power, addresses, specifications, and billing. */
import { DOCS_PATHS, PANEL_PATHS, resourcePath, serverPagePath } from '../../spec/paths.ts';
import type { Action } from '../../spec/schemas/action.ts';
import type { Alert } from '../../spec/schemas/alert.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { actionSteps, activityPart, progressBar } from '../parts/activity.ts';
import { copyable, detailList, section, time } from '../parts/components.ts';
import type { FormContext } from '../parts/form.ts';
import { formatGib, formatMemory, usd } from '../parts/format.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import { labelLink } from '../parts/label-fields.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { firingList } from '../resources/alerts.ts';
import { formatCyclePrice } from './format.ts';
import { describeCurrentOperation, type ServerPage, serverView } from './layout.ts';
import { LOAD_EVERY_S, type LoadData, loadSection } from './load.ts';
import { powerButtons, powerNote } from './power.ts';

const REFRESH_S = 5;

interface OverviewData extends ServerPage, LoadData {
  /** The latest ones. */
  readonly actions: readonly Action[];
  readonly imageName: string;
  readonly keys: readonly { readonly id: string; readonly name: string | null }[];
  /** Those that fire for it. */
  readonly alerts: readonly Alert[];
  readonly forms: FormContext;
}

export function overviewView(data: OverviewData): View {
  const { server } = data;
  const changing =
    data.currentOperation !== null || ['provisioning', 'installing', 'destroying'].includes(server.status);
  const body = html`${part('progress', changing && progressCard(data))}
${part('alerts', data.alerts.length > 0 && section('Alerts', firingList(data.alerts, server.id)))}
${part('power', powerNote(data))}
${part('load', data.metrics.series.cpu_pct.length > 0 && loadSection(data))}
<div class="columns"><div>
${part(
  'connect',
  server.ipv4 && section('Connect', connectSection(server.ipv4.address, data.keys.length > 0)),
)}
${part('addresses', section('Addresses', addressList(data)))}
${section('Tags and labels', tagsAndLabels(data))}
</div><div>
${part('specifications', section('Specifications', machineDetails(data)))}
${part('billing', section('Billing', billingDetails(data)))}
</div></div>
${activityPart(server.id, 'server', data.actions)}`;
  const view = serverView(data, 'overview', body, changing ? REFRESH_S : undefined);
  const header = { ...view.header, actions: powerButtons(data) };
  return { ...view, header, valuesEveryS: LOAD_EVERY_S };
}

function progressCard(data: OverviewData): Html {
  const { action } = data.server;
  const operation = describeCurrentOperation(data);
  const running = data.actions.find(({ id }) => id === action?.id);
  return html`<div class="banner">${operation && html`<p>${operation}</p>`}${
    action && html`<p>${progressBar(action)}</p>`
  }${running && actionSteps(running)}</div>`;
}

function connectSection(address: string, hasKeys: boolean): Html {
  const secret = hasKeys ? 'an SSH key of this server' : 'the root password that you chose';
  return html`<p class="command">${copyable(`ssh root@${address}`)}</p>
<p class="hint">Sign in with ${secret}. <a href="${DOCS_PATHS.guides}/getting-started">Step by step</a></p>`;
}

function addressList({ server }: OverviewData): Html {
  const { ipv4, ipv6 } = server;
  if (ipv4 === null || ipv6 === null) return html`<p>Addresses appear once the server is running.</p>`;
  return html`${detailList([
    ['IPv4', copyable(ipv4.address)],
    ['Gateway', copyable(ipv4.gateway)],
    ['IPv6', copyable(ipv6.address)],
    ['IPv6 network', copyable(ipv6.prefix)],
    ['Reverse DNS', ipv4.rdns ?? html`None. <a href="${serverPagePath(server.id, 'network')}">Set up</a>`],
  ])}`;
}

function machineDetails(data: OverviewData): Html {
  const { server, keys } = data;
  const keyList = keys.map((key, index) => {
    const comma = index > 0 ? ', ' : '';
    return key.name === null
      ? html`${comma}<span class="soft">deleted key</span>`
      : html`${comma}<a href="${resourcePath(PANEL_PATHS.keys, key.id)}">${key.name}</a>`;
  });
  const disk = `${formatGib(data.diskGb)} NVMe`;
  const parts = `${data.cpu} × ${data.cpuModel}, ${formatMemory(data.ramMb)} memory, ${disk}`;
  return detailList([
    ['Plan', html`${server.plan} <span class="soft">${parts}</span>`],
    ['Region', html`${data.regionName} <span class="soft">${server.region}</span>`],
    ['Image', data.imageName],
    ['ISO image', server.iso && isoLink(server)],
    ['SSH keys', keys.length > 0 ? html`${keyList}` : 'None. Installed with a root password.'],
    ['ID', copyable(server.id)],
  ]);
}

function isoLink({ id, boot }: Server): Html {
  const drive = html`<a href="${serverPagePath(id, 'rebuild')}">In the drive</a>`;
  return boot === 'iso' ? html`${drive}, boots first` : drive;
}

function billingDetails({ server, nextCycleUsd, destroyAt }: OverviewData): Html {
  const { suspended_reason: reason } = server;
  const renews = server.auto_renew
    ? `Automatically for ${usd(nextCycleUsd)} ${reason === 'balance' ? 'once' : 'if'} your balance covers it`
    : reason === 'not_renewed'
      ? 'No; power it on to pay for another cycle'
      : 'No; suspended when the cycle ends';
  return html`${detailList([
    ['Price', formatCyclePrice(server)],
    ['Paid until', time(server.paid_until)],
    ['Renews', server.status === 'destroying' ? null : renews],
    ['Will be deleted', destroyAt && time(destroyAt)],
    ['Created', time(server.created_at)],
  ])}
<p><a href="${serverPagePath(server.id, 'settings')}">Change auto-renew</a></p>`;
}

function tagsAndLabels({ server }: OverviewData): Html {
  const labels = Object.entries(server.labels);
  const tag = (text: string): HtmlValue =>
    html`<a href="${PANEL_PATHS.servers}?${new URLSearchParams({ tag: text }).toString()}">${text}</a> `;
  if (server.tags.length === 0 && labels.length === 0)
    return html`<p>No tags or labels yet. <a
href="${serverPagePath(server.id, 'settings')}">Add tags or labels</a></p>`;
  return detailList([
    ['Tags', server.tags.length > 0 && html`${server.tags.map(tag)}`],
    ...labels.map(
      (label) => [label[0], labelLink(PANEL_PATHS.servers, label, label[1] === '' ? '–' : label[1])] as const,
    ),
  ]);
}
