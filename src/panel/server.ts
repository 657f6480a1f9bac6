/** A server's own page: how it is, where it answers, what it costs, and its power. */
import { PANEL_PATHS, resourcePath, serverPagePath } from '../spec/paths.ts';
import { copyable, detailList, section, time, usd } from './components.ts';
import { type FormContext, form } from './form.ts';
import { type Html, type HtmlValue, html } from './html.ts';
import type { View } from './layout.ts';
import { formatCyclePrice, formatMemory, formatMonths, serverStatusBadge } from './server-format.ts';
import { blockedReason, describeCurrentOperation, type ServerPage, serverView } from './server-layout.ts';

const REFRESH_S = 5;

export interface OverviewData extends ServerPage {
  readonly imageName: string;
  readonly keys: readonly { readonly id: string; readonly name: string | null }[];
  readonly forms: FormContext;
}

export function overviewView(data: OverviewData): View {
  const { server } = data;
  const changing =
    data.currentOperation !== null || ['provisioning', 'installing', 'destroying'].includes(server.status);
  const body = html`${detailList([['Status', html`${serverStatusBadge(server.status)} ${describeCurrentOperation(data)}`]])}
${section('Power', powerSection(data))}
<div class="columns"><div>
${section('Addresses', addressList(data))}
</div><div>
${section('Machine', machineDetails(data))}
</div></div>
<div class="columns"><div>
${section('Paid', billingDetails(data))}
</div><div>
${section('Tags and labels', tagsAndLabels(data))}
</div></div>`;
  return serverView(data, 'overview', body, changing ? REFRESH_S : undefined);
}

const BUTTONS = [
  ['start', 'start', 'Start'],
  ['reboot', 'reboot', 'Reboot'],
  ['stop', 'stop', 'Stop'],
  ['reset', 'reboot', 'Reset'],
] as const;

/** Only what can be done now, and why nothing can. */
function powerSection(data: OverviewData): Html {
  const { server, forms, capabilities } = data;
  const possible = BUTTONS.filter(([, action]) => blockedReason(data, action) === null);
  const buttons = possible.map(([name, , word]) =>
    form(forms, { name }, html`<button class="plain">${word}</button>`),
  );
  const console = blockedReason(data, 'console') === null && capabilities.console;
  const blocked = blockedReason(data, 'reboot');
  const chargesCycle = server.status === 'suspended' && possible.length > 0;
  return html`<div class="power">${console && form(forms, { name: 'console' }, html`<button>Open the console</button>`)}${buttons}</div>
${possible.length === 0 && blocked && html`<p>${blocked}</p>`}
${chargesCycle && html`<p>Starting it pays ${usd(data.nextCycleUsd)} for ${formatMonths(server.billing_months)} from now on.</p>`}
${
  possible.some(([name]) => name === 'reset') &&
  html`<p class="hint">Reboot and stop ask the system to shut down, and switch it off after a while if it does not. Reset cuts the power at once: what was not written to the disk is lost.</p>`
}`;
}

function addressList({ server }: OverviewData): Html {
  const { ipv4, ipv6 } = server;
  if (ipv4 === null || ipv6 === null) return html`<p>They are shown as soon as the server runs.</p>`;
  return html`${detailList([
    ['IPv4', copyable(ipv4.address)],
    ['Gateway', copyable(ipv4.gateway)],
    ['IPv6', copyable(ipv6.address)],
    ['IPv6 network', copyable(ipv6.prefix)],
    ['Reverse DNS', ipv4.rdns ?? html`none; <a href="${serverPagePath(server.id, 'network')}">set it</a>`],
  ])}`;
}

function machineDetails(data: OverviewData): Html {
  const { server, keys } = data;
  const keyList = keys.map((key, index) => {
    const comma = index > 0 ? ', ' : '';
    return key.name === null
      ? html`${comma}<span class="soft">one that you deleted since</span>`
      : html`${comma}<a href="${resourcePath(PANEL_PATHS.keys, key.id)}">${key.name}</a>`;
  });
  const parts = `${data.cpu} × ${data.cpuModel}, ${formatMemory(data.ramMb)} memory, ${data.diskGb} GiB NVMe`;
  return detailList([
    ['Plan', html`${server.plan} <span class="soft">${parts}</span>`],
    ['Region', html`${data.regionName} <span class="soft">${server.region}</span>`],
    ['Image', data.imageName],
    ['SSH keys', keys.length > 0 ? html`${keyList}` : 'none: it was installed with a root password'],
    ['Id', copyable(server.id)],
  ]);
}

function billingDetails({ server, nextCycleUsd, destroyAt }: OverviewData): Html {
  const renews = server.auto_renew
    ? `for ${usd(nextCycleUsd)}, by itself, if the balance suffices then`
    : 'no: it is suspended then';
  return html`${detailList([
    ['Price', formatCyclePrice(server)],
    ['Paid until', time(server.paid_until)],
    ['Renews', server.status === 'destroying' ? null : renews],
    ['Destroyed on', destroyAt && time(destroyAt)],
    ['Ordered', time(server.created_at)],
  ])}
<p><a href="${serverPagePath(server.id, 'settings')}">Change whether it renews</a></p>`;
}

function tagsAndLabels({ server }: OverviewData): Html {
  const labels = Object.entries(server.labels);
  const tag = (text: string): HtmlValue =>
    html`<a href="${PANEL_PATHS.servers}?${new URLSearchParams({ tag: text }).toString()}">${text}</a> `;
  if (server.tags.length === 0 && labels.length === 0)
    return html`<p>None yet. <a href="${serverPagePath(server.id, 'settings')}">Add some</a></p>`;
  return detailList([
    ['Tags', server.tags.length > 0 && html`${server.tags.map(tag)}`],
    ...labels.map(([name, value]) => [name, value === '' ? '–' : value] as const),
  ]);
}
