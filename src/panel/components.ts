/** The small parts that pages are made of. */
import { Html, type HtmlValue, html } from './html.ts';

/** A table with a caption for those who cannot see where it stands. Cells are text or HTML. */
export function table(options: {
  readonly caption: string;
  readonly columns: readonly (string | { readonly name: string; readonly class: 'number' | 'actions' })[];
  readonly rows: readonly (readonly HtmlValue[])[];
}): Html {
  const classes = options.columns.map((column) => (typeof column === 'string' ? null : column.class));
  const classOf = (index: number) => classes[index] && html` class="${classes[index]}"`;
  const heads = options.columns.map((column, index) => {
    const name = typeof column === 'string' ? column : column.name;
    return html`<th scope="col"${classOf(index)}>${name}</th>`;
  });
  const rows = options.rows.map((cells) => {
    const [first, ...others] = cells;
    return html`<tr><th scope="row">${first}</th>${others.map((cell, index) => html`<td${classOf(index + 1)}>${cell}</td>`)}</tr>\n`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${options.caption}"><table>
<caption>${options.caption}</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows}</tbody></table></div>`;
}

/** Names and values, one below the other. A null value leaves its row out. */
export function detailList(rows: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return html`<dl class="facts">${shown.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

/** A part of a page under a heading of its own. `id` is where links to it lead. */
export function section(title: string, content: HtmlValue, id?: string): Html {
  const anchor = id ?? title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return html`<section aria-labelledby="${anchor}"><h2 id="${anchor}">${title}</h2>
${content}
</section>`;
}

/** What is said where there is nothing yet, and what to do about it. */
export function emptyState(message: string, action: HtmlValue): Html {
  return html`<div class="empty"><p>${message}</p><p>${action}</p></div>`;
}

/** A word with a mark in front of it: told apart by shape and word, not by colour alone. */
export function statusBadge(word: string, tone: 'good' | 'busy' | 'off' | 'bad' = 'off'): Html {
  return html`<span class="state ${tone}">${word}</span>`;
}

/** A time in UTC, to the minute; `null` prints a dash. RFC 3339 in. */
export function time(text: string | null): Html {
  if (text === null) return html`–`;
  return html`<time datetime="${text}">${text.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** A day: `2026-11-22`. RFC 3339 in. */
export function day(text: string): Html {
  return html`<time datetime="${text}">${text.slice(0, 10)}</time>`;
}

/** Made once: making one takes longer than a row of a table. */
const TWO_DECIMALS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** US dollars, `$12.50`; a negative amount has its sign in front. */
export function usd(amount: number): string {
  return `${amount < 0 ? '−' : ''}$${TWO_DECIMALS.format(Math.abs(amount))}`;
}

/** What may be copied: an address, a key. With scripts on a button beside it copies it. */
export function copyable(text: string): Html {
  return html`<code class="copy" data-copy>${text}</code>`;
}

/** The link to the next page of a list, and back to its start. */
export function pager(links: { readonly first: string | null; readonly next: string | null }): Html | null {
  const { first, next } = links;
  if (first === null && next === null) return null;
  return html`<nav class="pager" aria-label="Pages of this list">${first && html`<a href="${first}">To the start</a>`} ${next && html`<a href="${next}" rel="next">Next page</a>`}</nav>`;
}

/** Links to the pages that belong together; the one that is open is marked. */
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
