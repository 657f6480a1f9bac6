/** Pages with the operator's own text: terms of service and contact. */

import { markdown } from '../docs/markdown.ts';
import { emptyState } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

const NOT_PROVIDED = 'Not available yet.';

export function termsView({ terms }: { readonly terms: string | null }): View {
  const text = terms === null ? null : markdown(terms);
  return {
    title: text?.title ?? 'Terms of service',
    body: text?.body ?? emptyState(NOT_PROVIDED, 'We haven’t published our terms of service.'),
  };
}

export function contactView({ contact }: { readonly contact: string | null }): View {
  return {
    title: 'Contact',
    body:
      contact === null
        ? emptyState(NOT_PROVIDED, 'We haven’t published a contact address.')
        : html`<p>Contact us: ${contactLink(contact)}</p>
<p>When you report a problem, include the request ID from the error page (<code>req_…</code>) or the
response header <code>X-Request-Id</code>. Never send a password, a recovery code, or an API token.</p>`,
  };
}

function contactLink(contact: string): Html {
  if (/^(?:https:\/\/|mailto:)[^\s]+$/i.test(contact)) {
    return html`<a href="${contact}">${contact.replace(/^mailto:/i, '')}</a>`;
  }
  if (/^[^\s@:/]+@[^\s@:/]+\.[^\s@:/]+$/.test(contact))
    return html`<a href="mailto:${contact}">${contact}</a>`;
  return html`<strong>${contact}</strong>`;
}
