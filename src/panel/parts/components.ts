/** Components that pages share. */
import { Html, type HtmlValue, html } from './html.ts';

interface Column {
  readonly name: string;
  readonly class?: 'number' | 'actions';
  /** The link that sorts the list by this column, and the current order if the list is sorted by it. */
  readonly sort?: { readonly path: string; readonly order: 'ascending' | 'descending' | null } | undefined;
}

/**
 * Returns a table with a caption for screen readers. Cells are text or HTML. Below 34 rem, each row is a card
 * and each cell shows its column's name; links that sort are above the cards.
 */
export function table(options: {
  readonly caption: string;
  readonly columns: readonly (string | Column)[];
  readonly rows: readonly (readonly HtmlValue[])[];
}): Html {
  const columns = options.columns.map((each): Column => (typeof each === 'string' ? { name: each } : each));
  const classes = columns.map((column) => column.class);
  const names = columns.map(({ name }) => name);
  const classOf = (index: number) => classes[index] && html` class="${classes[index]}"`;
  const heads = columns.map((column, index) => columnHead(column, classOf(index)));
  const sortable = columns.some(({ sort }) => sort) && ' sortable';
  // Once per column, not per row: a list of a hundred rows repeats them.
  const attributes = names.map(
    (name, index) =>
      html`${classOf(index)}${name !== '' && classes[index] !== 'actions' && html` data-label="${name}"`}`,
  );
  const rows = options.rows.map(([first, ...others]) => {
    const cells = others.map((cell, index) => html`<td${attributes[index + 1]}>${cell}</td>`);
    return html`<tr><th scope="row">${first}</th>${cells}</tr>\n`;
  });
  const { caption } = options;
  return html`<div class="scroll stack${sortable}" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}

function columnHead({ name, sort }: Column, classAttribute: Html | undefined | ''): Html {
  if (!sort) return html`<th scope="col"${classAttribute}>${name}</th>`;
  const order = sort.order && html` aria-sort="${sort.order}"`;
  return html`<th scope="col" class="sort"${order}><a href="${sort.path}">${name}</a></th>`;
}

/** Returns a list of names and values. A row with a null value is left out. */
export function detailList(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== false);
  const items = shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`);
  return html`<dl class="facts">${items}</dl>`;
}

/** Returns a section with its own heading. `id` is its anchor. */
export function section(title: string, content: HtmlValue, id?: string): Html {
  const anchor = id ?? anchorOf(title);
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">${title}</h2>
${content}
</section>`;
}

function anchorOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** Returns a button that leads to the section of the same page with this title. */
export function sectionLink(title: string): Html {
  return buttonLink(title, `#${anchorOf(title)}`);
}

/** Returns the text of an empty list: its state, an explanation, and the next step as a button. */
export function emptyState(message: string, text: HtmlValue, next?: Html): Html {
  return html`<div class="empty"><p>${message}</p><p>${text}</p>${next && html`<p>${next}</p>`}</div>`;
}

/** Returns a link that looks like a button. The main one of a page stands out. */
export function buttonLink(name: string, path: string, kind: 'main' | 'plain' = 'main'): Html {
  return html`<a class="${kind === 'main' ? 'button' : 'button plain'}" href="${path}">${name}</a>`;
}

/** Returns a status word with a mark, so that color is not the only difference. */
export function statusBadge(word: string, tone: 'good' | 'busy' | 'off' | 'bad' = 'off'): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}

/** Formats an RFC 3339 time in UTC, to the minute; `null` prints a dash. */
export function time(text: string | null): Html {
  if (text === null) return html`–`;
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Formats the date of an RFC 3339 time: `2026-11-22`. */
export function day(text: string): Html {
  return html`<time datetime="${text}">${text.slice(0, 10)}</time>`;
}

/** Returns text to copy, such as an address or a key. Scripts add a copy button next to it. */
export function copyable(text: string): Html {
  return html`<code class="copy" data-copy>${text}</code>`;
}

/** Returns the links to the next page of a list and back to its first page. */
export function pager(links: { readonly first: string | null; readonly next: string | null }): Html | null {
  const { first, next } = links;
  if (first === null && next === null) return null;
  const toFirst = first && html`<a href="${first}">First page</a>`;
  const toNext = next && html`<a href="${next}" rel="next">Next page</a>`;
  return html`<nav class="pager" aria-label="Pagination">${toFirst} ${toNext}</nav>`;
}

/** Returns tab links; the current page's is marked. */
export function tabs(
  label: string,
  links: readonly (readonly [name: string, path: string])[],
  open: string,
): Html {
  const items = links.map(
    ([name, path]) =>
      html`<li><a href="${path}"${path === open && new Html(' aria-current="page"')}>${name}</a></li>`,
  );
  return html`<nav class="tabs" aria-label="${label}"><ul>${items}</ul></nav>`;
}
