/** Writing a mailing: nothing is sent before someone has seen its preview. */
import { section, table } from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import { CONSOLE_PATHS, type ConsoleView } from './layout.ts';
import { counted, reasonField } from './parts.ts';
import { type RoomField, roomForm } from './room-form.ts';

interface Preview {
  /** In words. */
  readonly to: string;
  readonly recipients: number;
  readonly first: readonly { readonly id: string; readonly email: string }[];
  readonly mail: { readonly subject: string; readonly text: string };
}

export function newMailingView(data: {
  readonly preview: Preview | null;
  readonly fields: readonly RoomField[];
  /** Whether to offer the form that sends it. */
  readonly maySend: boolean;
  readonly forms: FormContext;
}): ConsoleView {
  const { preview, fields, maySend, forms } = data;
  const write = {
    name: 'mailings.preview',
    title: preview === null ? 'Write' : 'Change',
    button: 'Show preview',
    isDangerous: false,
    text: 'The preview sends nothing.',
    fields,
    needsReason: false,
  };
  return {
    title: 'Write a mailing',
    section: 'mailings',
    breadcrumbs: [['Mailings', CONSOLE_PATHS.mailings]],
    body: html`${preview && previewSection(preview)}
${maySend && section('Send', sendForm(fields, forms))}
${roomForm(forms, write, preview === null)}`,
  };
}

function previewSection({ to, recipients, first, mail }: Preview): Html {
  const rows = first.map(({ id, email }) => [html`<a href="${CONSOLE_PATHS.customers}/${id}">${email}</a>`]);
  const caption = recipients > first.length ? `The first ${first.length} of them` : 'All of them';
  return section(
    'Preview',
    html`<p>To ${to}: <strong>${counted(recipients, 'customer')}</strong>.</p>
<p><strong>${mail.subject}</strong></p>
<div class="talk-text">${mail.text}</div>
${rows.length > 0 && table({ caption, columns: ['Customer'], rows })}`,
  );
}

/** Sends what the preview showed: the fields are hidden. */
function sendForm(fields: readonly RoomField[], forms: FormContext): Html {
  const name = 'mailings.create';
  const own = new Fields(forms, name);
  const hidden = fields
    .filter(({ value }) => value !== '')
    .map((row) => html`<input type="hidden" name="${row.name}" value="${row.value}">\n`);
  return form(
    forms,
    { name },
    html`${hidden}${reasonField(own)}
<p class="hint">Customers who match now are mailed, at the rate that the service is set to.</p>
<button>Send mailing</button>`,
  );
}
