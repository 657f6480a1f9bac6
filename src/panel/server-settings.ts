/** What a customer calls his server, whether it renews, and its end. */
import { LIMITS } from '../spec/limits.ts';
import { section, time, usd } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { formatMonths } from './server-format.ts';
import { blockedReason, type ServerPage, serverView } from './server-layout.ts';

export interface SettingsData extends ServerPage {
  readonly forms: FormContext;
}

export function settingsView(data: SettingsData): View {
  return serverView(
    data,
    'settings',
    html`${section('Name and renewal', changeForm(data))}
${section('Destroy', destroyForm(data))}`,
  );
}

function changeForm(data: SettingsData): Html {
  const { forms, server, nextCycleUsd } = data;
  const blocked = blockedReason(data, 'update');
  if (blocked !== null) return html`<p>${blocked}</p>`;
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
${fields.textarea('tags', 'Tags', { value: server.tags.join('\n'), rows: 3, hint: 'One a line.' })}
${fields.textarea('labels', 'Labels', { value: labels.join('\n'), rows: 3, hint: 'One a line: name=value.' })}
${fields.checkbox(
  'auto_renew',
  html`Renew it when its cycle ends, for ${usd(nextCycleUsd)} and ${formatMonths(server.billing_months)}`,
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

function destroyForm(data: SettingsData): Html {
  const { forms, server, neverRan } = data;
  if (server.status === 'destroying') return html`<p>It is being destroyed.</p>`;
  const fields = new Fields(forms, 'destroy');
  const refundNote = neverRan
    ? html`It has never run: ${usd(server.price_usd_cycle)} go back to the balance.`
    : html`Nothing is refunded of the cycle that is paid until ${time(server.paid_until)}.`;
  return html`<p><strong>Its disk is wiped and its addresses are given up, for ever.</strong> Volumes are detached and kept; snapshots
stay. ${refundNote}</p>
${form(
  forms,
  { name: 'destroy' },
  html`${fields.text('name_typed', `Type its name, ${server.name}, to show that you mean this server`, { required: true, maxLength: LIMITS.nameMaxChars, autocomplete: 'off' })}
<button class="danger">Destroy the server</button>`,
)}`;
}
