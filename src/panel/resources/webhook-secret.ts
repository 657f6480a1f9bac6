/** The rotation of a webhook's signing secret. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import type { Webhook } from '../../spec/schemas/webhook.ts';
import { collapsibleForm } from '../parts/compact-forms.ts';
import { copyable } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';

const GUIDE_PATH = `${PANEL_PATHS.docs}/guides/webhooks#rotate-the-secret`;

export interface RotatedSecret {
  readonly secret: string;
}

export function secretSection(webhook: Webhook, rotated: RotatedSecret | null, forms: FormContext): Html {
  if (webhook.next_secret_hint === null) return rotateForm(forms);
  return html`${rotated && secretNotice(rotated)}
<p>Deliveries are signed with both secrets: <code>X-Service-Signature</code> with the current one, and
<code>X-Service-Signature-Next</code> with the next one. End the rotation when your receiver knows the next
secret. <a href="${GUIDE_PATH}">How to rotate a secret</a></p>
${form(
  forms,
  { name: 'end_rotation' },
  html`<button name="keep" value="next">End rotation</button>
<button class="plain" name="keep" value="current">Cancel rotation</button>`,
)}
${collapsibleForm(forms, 'rotate', {
  summary: 'Replace the next secret',
  description: 'Creates another next secret, for example if you lost this one.',
  content: html`<button>Replace next secret</button>`,
})}`;
}

function rotateForm(forms: FormContext): Html {
  return collapsibleForm(forms, 'rotate', {
    summary: 'Rotate the signing secret',
    description:
      'Creates the next secret. Deliveries are signed with both until you end the rotation.',
    content: html`<button>Rotate secret</button>`,
  });
}

function secretNotice({ secret }: RotatedSecret): Html {
  return html`<div class="once" role="status"><p>Rotation started. This is the next signing secret. It is
shown only once:</p>
<p>${copyable(secret)}</p></div>`;
}
