/** A server's own page: how it is, where it answers, what it costs, and its power. */
import { PANEL_PATHS, serverPartPath, thingPath } from '../spec/paths.ts';
import { type FormContext, form } from './form.ts';
import { type Html, html, type Value } from './html.ts';
import type { View } from './layout.ts';
import { copyable, facts, section, time, usd } from './parts.ts';
import { hindrance, type ServerPage, serverView, underWayText } from './server-frame.ts';
import { cyclePrice, memoryText, monthsText, serverState } from './server-words.ts';

const REFRESH_S = 5;

export interface OverviewData extends ServerPage {
  readonly imageName: string;
  readonly keys: readonly { readonly id: string; readonly name: string | null }[];
  readonly forms: FormContext;
}

export function overviewView(data: OverviewData): View {
  const { server } = data;
  const changing =
    data.underWay !== null || ['provisioning', 'installing', 'destroying'].includes(server.status);
  const body = html`${facts([['Status', html`${serverState(server.status)} ${underWayText(data)}`]])}
${section('Power', power(data))}
<div class="columns"><div>
${section('Addresses', addresses(data))}
</div><div>
${section('Machine', machine(data))}
</div></div>
<div class="columns"><div>
${section('Paid', paid(data))}
</div><div>
${section('Tags and labels', words(data))}
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
function power(data: OverviewData): Html {
  const { server, forms, able } = data;
  const possible = BUTTONS.filter(([, action]) => hindrance(data, action) === null);
  const buttons = possible.map(([name, , word]) =>
    form(forms, { name }, html`<button class="plain">${word}</button>`),
  );
  const console = hindrance(data, 'console') === null && able.console;
  const why = hindrance(data, 'reboot');
  const pays = server.status === 'suspended' && possible.length > 0;
  return html`<div class="power">${console && form(forms, { name: 'console' }, html`<button>Open the console</button>`)}${buttons}</div>
${possible.length === 0 && why && html`<p>${why}</p>`}
${pays && html`<p>Starting it pays ${usd(data.nextCycleUsd)} for ${monthsText(server.billing_months)} from now on.</p>`}
${
  possible.some(([name]) => name === 'reset') &&
  html`<p class="hint">Reboot and stop ask the system to shut down, and switch it off after a while if it does not. Reset cuts the power at once: what was not written to the disk is lost.</p>`
}`;
}

function addresses({ server }: OverviewData): Html {
  const { ipv4, ipv6 } = server;
  if (ipv4 === null || ipv6 === null) return html`<p>They are shown as soon as the server runs.</p>`;
  return html`${facts([
    ['IPv4', copyable(ipv4.address)],
    ['Gateway', copyable(ipv4.gateway)],
    ['IPv6', copyable(ipv6.address)],
    ['IPv6 network', copyable(ipv6.prefix)],
    ['Reverse DNS', ipv4.rdns ?? html`none; <a href="${serverPartPath(server.id, 'network')}">set it</a>`],
  ])}`;
}

function machine(data: OverviewData): Html {
  const { server, keys } = data;
  const keyList = keys.map((key, index) => {
    const comma = index > 0 ? ', ' : '';
    return key.name === null
      ? html`${comma}<span class="soft">one that you deleted since</span>`
      : html`${comma}<a href="${thingPath(PANEL_PATHS.keys, key.id)}">${key.name}</a>`;
  });
  const parts = `${data.cpu} × ${data.cpuModel}, ${memoryText(data.ramMb)} memory, ${data.diskGb} GiB NVMe`;
  return facts([
    ['Plan', html`${server.plan} <span class="soft">${parts}</span>`],
    ['Region', html`${data.regionName} <span class="soft">${server.region}</span>`],
    ['Image', data.imageName],
    ['SSH keys', keys.length > 0 ? html`${keyList}` : 'none: it was installed with a root password'],
    ['Id', copyable(server.id)],
  ]);
}

function paid({ server, nextCycleUsd, destroyAt }: OverviewData): Html {
  const renews = server.auto_renew
    ? `for ${usd(nextCycleUsd)}, by itself, if the balance suffices then`
    : 'no: it is suspended then';
  return html`${facts([
    ['Price', cyclePrice(server)],
    ['Paid until', time(server.paid_until)],
    ['Renews', server.status === 'destroying' ? null : renews],
    ['Destroyed on', destroyAt && time(destroyAt)],
    ['Ordered', time(server.created_at)],
  ])}
<p><a href="${serverPartPath(server.id, 'settings')}">Change whether it renews</a></p>`;
}

function words({ server }: OverviewData): Html {
  const labels = Object.entries(server.labels);
  const tag = (text: string): Value =>
    html`<a href="${PANEL_PATHS.servers}?${new URLSearchParams({ tag: text }).toString()}">${text}</a> `;
  if (server.tags.length === 0 && labels.length === 0)
    return html`<p>None yet. <a href="${serverPartPath(server.id, 'settings')}">Add some</a></p>`;
  return facts([
    ['Tags', server.tags.length > 0 && html`${server.tags.map(tag)}`],
    ...labels.map(([name, value]) => [name, value === '' ? '–' : value] as const),
  ]);
}
