/** What the operator says of himself: terms of service, and how to reach him. */

import { emptyState } from './components.ts';
import { type Html, html } from './html.ts';
import type { View } from './layout.ts';
import { markdown } from './markdown.ts';

const NOT_PROVIDED = 'The operator has not written this yet.';

export function termsView({ terms }: { readonly terms: string | null }): View {
  const text = terms === null ? null : markdown(terms);
  return {
    title: text?.title ?? 'Terms of service',
    body:
      text?.body ??
      emptyState(NOT_PROVIDED, 'Ask before you rely on anything that is not said on these pages.'),
  };
}

export function contactView({ contact }: { readonly contact: string | null }): View {
  return {
    title: 'Contact',
    body:
      contact === null
        ? emptyState(NOT_PROVIDED, 'There is no way to reach the operator from here.')
        : html`<p>You reach the operator here: ${contactLink(contact)}</p>
<p>If something did not work, name the request that the page of the error shows (<code>req_…</code>), or the <code>X-Request-Id</code>
of the answer. Never send a password, a recovery code or an API token.</p>`,
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
