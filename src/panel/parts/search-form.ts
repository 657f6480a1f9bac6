/** The search over a customer's resources, and the query that all searches of the site share. */
import { PANEL_PATHS } from '../../spec/paths.ts';
import { type Html, html } from './html.ts';

/** Longer queries are cut. */
export const QUERY_MAX_CHARS = 100;
export const QUERY_FIELD = 'q';

/** Bounds what a visitor typed, before it reaches a search or a page. */
export function cleanQuery(text: string): string {
  const words = text.replace(/\s+/g, ' ').trim();
  return [...words].slice(0, QUERY_MAX_CHARS).join('').trim();
}

/** A plain GET form. Scripts focus its field. */
export function searchForm({ id = 'search', query = '' } = {}): Html {
  return html`<form class="find no-print" role="search" method="get" action="${PANEL_PATHS.search}">
<label class="unseen" for="${id}">Search your account</label>
<input type="search" id="${id}" name="${QUERY_FIELD}" value="${query}" maxlength="${QUERY_MAX_CHARS}"
 placeholder="Search" autocomplete="off">
<button class="plain">Search</button>
</form>`;
}
