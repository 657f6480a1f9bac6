/** Pages with the operator's own text: terms of service, privacy policy, and contact. */

import { PANEL_PATHS } from '../../spec/paths.ts';
import { markdown } from '../docs/markdown.ts';
import { emptyState } from '../parts/components.ts';
import { type Html, type HtmlValue, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

const NOT_PROVIDED = 'Not available yet.';

export function termsView({ terms }: { readonly terms: string | null }): View {
  return textView(terms, 'Terms of service', 'We haven’t published our terms of service.');
}

export function privacyView({ privacy }: { readonly privacy: string | null }): View {
  const summary = html`We haven’t published a privacy policy. <a
href="${PANEL_PATHS.home}#privacy">What we store</a>`;
  return textView(privacy, 'Privacy policy', summary);
}

function textView(own: string | null, title: string, missing: HtmlValue): View {
  const text = own === null ? null : markdown(own);
  return { title: text?.title ?? title, body: text?.body ?? emptyState(NOT_PROVIDED, missing) };
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
