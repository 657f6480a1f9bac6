/** A server's name, tags, labels, renewal, and protection, and its deletion. */
import { LIMITS } from '../../spec/limits.ts';
import { section, time } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { formatMonths, usd } from '../parts/format.ts';
import { type Html, html } from '../parts/html.ts';
import { formatLabels, labelsField } from '../parts/label-fields.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { protectedNote, protectionSection } from '../parts/protection.ts';
import { blockedReason, type ServerPage, serverView } from './layout.ts';

const GRACE_HINT = 'It is still deleted if it stays suspended until its grace period ends.';

interface SettingsData extends ServerPage {
  readonly forms: FormContext;
}

export function settingsView(data: SettingsData): View {
  return serverView(
    data,
    'settings',
    html`${part('change', section('Name, tags, and renewal', changeForm(data)))}
${part('protection', protectionPart(data))}
${part('delete', section('Delete', destroyForm(data)))}`,
  );
}

function protectionPart(data: SettingsData): Html | false {
  const { forms, server } = data;
  if (blockedReason(data, 'protect') !== null) return false;
  return protectionSection(forms, 'server', server.protection, GRACE_HINT);
}

function changeForm(data: SettingsData): Html {
  const { forms, server, nextCycleUsd } = data;
  const blocked = blockedReason(data, 'update');
  if (blocked !== null) return html`<p>${blocked}</p>`;
  const fields = new Fields(forms, 'change');
  const waits = server.suspended_reason === 'balance';
  return form(
    forms,
    { name: 'change' },
    html`${fields.text('name', 'Name', {
      value: server.name,
      required: true,
      maxLength: LIMITS.nameMaxChars,
      hint: 'Lowercase letters, digits, and dashes, starting with a letter. The system keeps its host name.',
    })}
${fields.textarea('tags', 'Tags', { value: server.tags.join('\n'), rows: 3, hint: 'One per line.' })}
${labelsField(fields, 'Labels', formatLabels(server.labels))}
${fields.checkbox(
  'auto_renew',
  html`Renew automatically: ${usd(nextCycleUsd)} for ${formatMonths(server.billing_months)}`,
  {
    value: server.auto_renew,
    hint: waits
      ? 'The server resumes when your balance covers it. If off, it won’t resume automatically.'
      : 'If off, the server is suspended when its cycle ends, and deleted later unless you power it on.',
  },
)}
<button>Save changes</button>`,
  );
}

function destroyForm(data: SettingsData): Html {
  const { forms, server, refundUsd } = data;
  if (server.status === 'destroying') return html`<p>The server is being deleted.</p>`;
  if (server.protection.delete) return protectedNote('This server is protected from deletion.');
  const fields = new Fields(forms, 'destroy');
  const refundNote =
    refundUsd > 0
      ? html`The server has never run, so we refund ${usd(refundUsd)} to your balance.`
      : html`We don’t refund the current cycle, which is paid until ${time(server.paid_until)}.`;
  return html`<p><strong>This wipes the disk and releases the addresses permanently.</strong> Volumes are
detached and kept. Snapshots are kept. ${refundNote}</p>
${form(
  forms,
  { name: 'destroy' },
  html`${fields.text('name_typed', `Enter ${server.name} to confirm`, {
    required: true,
    maxLength: LIMITS.nameMaxChars,
    autocomplete: 'off',
  })}
<button class="danger">Delete server</button>`,
)}`;
}
