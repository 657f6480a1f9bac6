/** The search page of the documentation. It works without scripts. */
import { DOCS_PATHS } from '../../spec/paths.ts';
import { emptyState } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { SearchResult } from './index.ts';
import { DOCS_BREADCRUMBS, type DocsView, searchForm } from './layout.ts';

export function searchView(query: string, results: readonly SearchResult[]): DocsView {
  return {
    path: DOCS_PATHS.search,
    title: query === '' ? 'Search the docs' : 'Search results',
    section: 'docs',
    breadcrumbs: DOCS_BREADCRUMBS,
    headings: [],
    body: html`${searchForm('docs-search', query)}
${query === '' ? searchHint() : resultList(query, results)}`,
  };
}

function searchHint(): Html {
  return html`<p class="soft">Searches the guides, the API reference, and the changelog. Try “refund”,
“rescue”, or “Idempotency-Key”.</p>`;
}

function resultList(query: string, results: readonly SearchResult[]): Html {
  if (results.length === 0) {
    return emptyState(
      `No results for “${query}”.`,
      html`Check the spelling, or try fewer or more general words. You can also browse the list of pages.`,
    );
  }
  const count = results.length === 1 ? '1 result' : `${results.length} results`;
  return html`<p class="soft" role="status">${count} for “${query}”</p>
<ol class="results">
${results.map(resultItem)}</ol>`;
}

function resultItem({ path, page, heading, excerpt }: SearchResult): Html {
  const marked = excerpt.map(({ text, match }) => (match ? html`<mark>${text}</mark>` : text));
  return html`<li><a href="${path}">${heading}</a> <span class="soft">${page}</span>
<p>${marked}</p></li>
`;
}
