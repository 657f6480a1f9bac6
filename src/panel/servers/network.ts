/** Reverse DNS of a server, and the firewall groups that filter it. */
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { FirewallGroup } from '../../spec/schemas/firewall.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { collapsibleForm } from '../parts/compact-forms.ts';
import { section, table } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { labelsOf } from '../parts/labels.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { blockedReason, type ServerPage, serverView } from './layout.ts';

interface NetworkData extends ServerPage {
  /** The firewall groups that apply to the server. */
  readonly groups: readonly FirewallGroup[];
  readonly forms: FormContext;
}

export function networkView(data: NetworkData): View {
  return serverView(
    data,
    'network',
    html`${part('names', section('Reverse DNS', reverseDns(data)))}
${part('firewall', section('Firewall', firewallTable(data)))}`,
  );
}

type Ipv6 = NonNullable<Server['ipv6']>;

function reverseDns(data: NetworkData): Html {
  const { ipv4, ipv6 } = data.server;
  if (ipv4 === null || ipv6 === null) return html`<p>Addresses appear once the server is running.</p>`;
  const blocked = blockedReason(data, 'update');
  const records = Object.entries(ipv6.rdns_records).filter(([address]) => address !== ipv6.address);
  if (blocked !== null) return html`<p>${blocked}</p>${otherNamesTable(records)}`;
  return html`${primaryNamesForm(data.forms, ipv4, ipv6)}
<h3>Other addresses in <code>${ipv6.prefix}</code></h3>
${otherNamesTable(records)}
${records.length > 0 && removeNameForm(data.forms, records)}
${addNameForm(data.forms, ipv6)}`;
}

function primaryNamesForm(
  forms: FormContext,
  ipv4: { address: string; rdns: string | null },
  ipv6: Ipv6,
): Html {
  const fields = new Fields(forms, 'names');
  const shared = { maxLength: 253, hint: 'A host name, such as web.example.org. Leave empty for none.' };
  const parts = html`${fields.text('ipv4', `Host name for ${ipv4.address}`, {
    value: ipv4.rdns ?? '',
    ...shared,
  })}
${fields.text('ipv6', `Host name for ${ipv6.address}`, { value: ipv6.rdns ?? '', ...shared })}
<button>Save host names</button>`;
  return form(forms, { name: 'names' }, parts);
}

function otherNamesTable(records: readonly (readonly [address: string, host: string])[]): Html | null {
  if (records.length === 0) return html`<p class="soft">No other address has a host name.</p>`;
  return table({
    caption: 'Reverse DNS of other IPv6 addresses',
    columns: ['Address', 'Host name'],
    rows: records.map(([address, host]) => [html`<code>${address}</code>`, host]),
  });
}

function removeNameForm(forms: FormContext, records: readonly (readonly [string, string])[]): Html {
  const fields = new Fields(forms, 'remove_name');
  const choices = records.map(([address, host]) => [address, `${address} ${host}`] as const);
  return form(
    forms,
    { name: 'remove_name', class: 'row' },
    html`${fields.select('address', 'Remove the host name of', { choices })}<button
class="plain">Remove host name</button>`,
  );
}

function addNameForm(forms: FormContext, ipv6: Ipv6): Html {
  const fields = new Fields(forms, 'add_name');
  const hint = `An address in ${ipv6.prefix}.`;
  const parts = html`${fields.text('address', 'Address', { required: true, maxLength: 45, hint })}
${fields.text('ipv6', 'Host name', { required: true, maxLength: 253 })}
<button class="plain">Add host name</button>`;
  return collapsibleForm(forms, 'add_name', {
    summary: 'Add a host name for another address',
    content: parts,
  });
}

function firewallTable({ groups }: NetworkData): Html {
  if (groups.length === 0)
    return html`<p>No firewall group applies to this server, so all its ports are open. <a
href="${PANEL_PATHS.firewall}">View firewall groups</a></p>`;
  const label = labelsOf(groups);
  const list = table({
    caption: 'Firewall groups of this server, in order',
    columns: ['Group', { name: 'Rules', class: 'number' }, 'Default inbound policy'],
    rows: groups.map((group) => [
      html`<a href="${resourcePath(PANEL_PATHS.firewall, group.id)}">${label(group)}</a>`,
      group.rules.length,
      group.default_action === 'drop' ? 'Drop' : 'Accept',
    ]),
  });
  return html`${list}
<p class="soft">To attach or detach a group, open it.</p>`;
}
