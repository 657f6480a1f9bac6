/** What a customer calls his server, whether it renews, and its end. */
import { LIMITS } from '../spec/limits.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { section, time, usd } from './parts.ts';
import { hindrance, type ServerPage, serverView } from './server-frame.ts';
import { monthsText } from './server-words.ts';

export interface SettingsData extends ServerPage {
  readonly forms: FormContext;
}

export function settingsView(data: SettingsData): View {
  return serverView(
    data,
    'settings',
    html`${section('Name and renewal', change(data))}
${section('Destroy', destroy(data))}`,
  );
}

function change(data: SettingsData): Html {
  const { forms, server, nextCycleUsd } = data;
  const why = hindrance(data, 'update');
  if (why !== null) return html`<p>${why}</p>`;
  const fields = new Fields(forms, 'change');
  const labels = Object.entries(server.labels).map(([name, value]) => `${name}=${value}`);
  const waits = server.suspended_reason === 'balance';
  return form(
    forms,
    { name: 'change' },
    html`${fields.text('name', 'Name', {
      value: server.name,
      required: true,
      maxLength: LIMITS.nameMaxChars,
      hint: 'Lower-case letters, digits and dashes; a letter first. The host name in the system stays.',
    })}
${fields.area('tags', 'Tags', { value: server.tags.join('\n'), rows: 3, hint: 'One a line.' })}
${fields.area('labels', 'Labels', { value: labels.join('\n'), rows: 3, hint: 'One a line: name=value.' })}
${fields.tick(
  'auto_renew',
  html`Renew it when its cycle ends, for ${usd(nextCycleUsd)} and ${monthsText(server.billing_months)}`,
  {
    value: server.auto_renew,
    hint: waits
      ? 'It waits for the balance now. Switched off, it does so no longer: start it yourself when you want it again.'
      : 'Switched off, it is suspended at the end of the cycle, and destroyed some time after, unless you start it again.',
  },
)}
<button>Save</button>`,
  );
}

function destroy(data: SettingsData): Html {
  const { forms, server, neverRan } = data;
  if (server.status === 'destroying') return html`<p>It is being destroyed.</p>`;
  const fields = new Fields(forms, 'destroy');
  const money = neverRan
    ? html`It has never run: ${usd(server.price_usd_cycle)} go back to the balance.`
    : html`Nothing is refunded of the cycle that is paid until ${time(server.paid_until)}.`;
  return html`<p><strong>Its disk is wiped and its addresses are given up, for ever.</strong> Volumes are detached and kept; snapshots
stay. ${money}</p>
${form(
  forms,
  { name: 'destroy' },
  html`${fields.text('name_typed', `Type its name, ${server.name}, to show that you mean this server`, { required: true, maxLength: LIMITS.nameMaxChars, autocomplete: 'off' })}
<button class="danger">Destroy the server</button>`,
)}`;
}
