/** The search over a customer's resources, and the query that all searches of the site share. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import { type FormContext, form } from './form.ts';
import { type Html, html } from './html.ts';

/** Longer queries are cut. */
export const QUERY_MAX_CHARS = 100;
export const QUERY_FIELD = 'q';

/** Bounds what a visitor typed, before it reaches a search or a page. */
export function cleanQuery(text: string): string {
  const words = text.replace(/\s+/g, ' ').trim();
  return [...words].slice(0, QUERY_MAX_CHARS).join('').trim();
}

/** Sent by POST: a searched IP address must not be in a URL, which proxies log. Scripts focus its field. */
export function searchForm(forms: FormContext, { id = 'search', query = '' } = {}): Html {
  return form(
    forms,
    { name: 'find', action: PANEL_PATHS.search, class: 'find no-print', role: 'search' },
    html`<label class="unseen" for="${id}">Search your account</label>
<input type="search" id="${id}" name="${QUERY_FIELD}" value="${query}" maxlength="${QUERY_MAX_CHARS}"
 placeholder="Search" autocomplete="off">
<button class="plain">Search</button>`,
  );
}

/** Whether a word of the query looks like an IP address or the beginning of one. */
export function namesAddress(query: string): boolean {
  return query.split(' ').some((word) => /^\d+(\.\d+){1,3}\.?(\/\d+)?$/.test(word) || isIpv6Like(word));
}

function isIpv6Like(word: string): boolean {
  return word.includes(':') && /^[0-9a-f:.]+(%\w+)?(\/\d+)?$/i.test(word);
}
