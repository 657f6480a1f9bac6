/**
 * Navigation of the documentation: contents, "On this page", and links to the previous and next page. It
 * works without scripts: on narrow screens an empty <details> shows or hides the list that follows it.
 */
import { DOCS_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { QUERY_FIELD, QUERY_MAX_CHARS } from '../parts/search-form.ts';

/** An entry of "On this page". */
interface PageHeading {
  readonly id: string;
  readonly text: string;
  readonly level: 2 | 3;
  /** Method and path, for an operation of the API. */
  readonly endpoint?: { readonly method: string; readonly path: string };
}

/** A page of the documentation, before it gets its navigation. */
export interface DocsView extends View {
  readonly path: string;
  readonly headings: readonly PageHeading[];
}

/** An entry of the contents. */
interface DocsLink {
  readonly path: string;
  readonly title: string;
}

/** A group of the contents. Previous and next links follow the same order. */
export interface DocsGroup {
  readonly title: string;
  readonly links: readonly DocsLink[];
}

export const DOCS_BREADCRUMBS = [['Docs', PANEL_PATHS.docs]] as const;

/** A plain GET form. `id` is that of its field. */
export function searchForm(id: string, query = ''): Html {
  return html`<form class="docs-search no-print" role="search" method="get" action="${DOCS_PATHS.search}">
<label class="unseen" for="${id}">Search the docs</label>
<input type="search" id="${id}" name="${QUERY_FIELD}" value="${query}" maxlength="${QUERY_MAX_CHARS}"
 placeholder="Search the docs">
<button class="plain">Search</button>
</form>`;
}

/** Adds the navigation to a page. */
export function withNavigation(view: DocsView, contents: readonly DocsGroup[]): View {
  // The start page and the search page have a larger search form in their text.
  const hasOwnSearch = view.path === PANEL_PATHS.docs || view.path === DOCS_PATHS.search;
  return {
    ...view,
    section: 'docs',
    arrange: (content) => html`<div class="docs"><div class="docs-side">
<nav class="docs-nav" aria-label="Docs">
${!hasOwnSearch && searchForm('docs-search')}
${fold('All pages', contentsList(view.path, contents))}</nav>
${tableOfContents(view.headings)}</div>
<article id="content" tabindex="-1">
${content}
${neighborLinks(view.path, contents)}</article></div>`,
  };
}

/** A list that narrow screens fold. It follows <details>: older browsers cannot style closed content. */
function fold(label: string, content: Html): Html {
  return html`<details class="fold no-print"><summary>${label}</summary></details>
<div class="folded">${content}</div>`;
}

function contentsList(current: string, contents: readonly DocsGroup[]): Html {
  const groups = contents.map(({ title, links }) => {
    const rows = links.map((link) => {
      const mark = link.path === current && new Html(' aria-current="page"');
      return html`<li><a href="${link.path}"${mark}>${link.title}</a>`;
    });
    return html`<p>${title}</p>\n<ul>${rows}</ul>\n`;
  });
  return html`${groups}`;
}

/** Null for a page of one section: its list would only repeat the title. */
function tableOfContents(headings: readonly PageHeading[]): Html | null {
  if (headings.length < 2) return null;
  const rows = headings.map(({ id, text, level, endpoint }) => {
    const style = level === 3 && new Html(' class="sub"');
    const code = endpoint && html`<code><b>${endpoint.method}</b> ${breakablePath(endpoint.path)}</code>`;
    return html`<li${style}><a href="#${id}">${text}${code}</a>`;
  });
  return html`<nav class="toc" aria-label="On this page">
${fold('On this page', html`<p>On this page</p>\n<ul>${rows}</ul>`)}</nav>`;
}

/** A path that can wrap before every slash. */
export function breakablePath(path: string): Html {
  return html`${path.split('/').map((part, index) => html`${index > 0 && new Html('<wbr>/')}${part}`)}`;
}

function neighborLinks(current: string, contents: readonly DocsGroup[]): Html | null {
  const links = contents.flatMap((group) => group.links);
  const index = links.findIndex(({ path }) => path === current);
  if (index < 0) return null;
  const link = (rel: 'prev' | 'next', label: string, target: DocsLink | undefined) =>
    target && html`<a href="${target.path}" rel="${rel}"><span>${label}</span> ${target.title}</a>\n`;
  return html`<nav class="neighbors no-print" aria-label="Previous and next page">
${link('prev', 'Previous', links[index - 1])}${link('next', 'Next', links[index + 1])}</nav>
`;
}
