/**
 * Markdown as HTML: of our own documents and of the operator's terms. HTML in it stays text, pictures are not shown, and a link
 * leads nowhere but to the web, to a mailbox or within this site.
 */
import MarkdownIt from 'markdown-it';
import { Html } from './html.ts';

export interface MarkdownPage {
  /** The heading of the first level that it begins with, as text. */
  readonly title: string | null;
  readonly body: Html;
}

/** Where a link to another file leads; null: nowhere, and it is text. */
export type ResolveLink = (href: string) => string | null;

const SAFE = /^(?:https?:\/\/|mailto:|\/(?!\/)|#)/i;

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable('image');
// What is no safe address yet may be the name of another document: `resolve` decides before anything is shown.
parser.validateLink = (href) => SAFE.test(href) || /^[\w./-]+(?:#[\w-]*)?$/.test(href);

type Token = ReturnType<typeof parser.parse>[number];

/** A whole document. Its first heading becomes the title. */
export function markdown(source: string, resolve: ResolveLink = () => null): MarkdownPage {
  const tokens = parser.parse(source, {});
  const [first, inline] = tokens;
  const titled = first?.type === 'heading_open' && first.tag === 'h1';
  const rest = titled ? tokens.slice(3) : tokens;
  nameHeadings(rest);
  for (const token of rest) if (token.children) resolveLinks(token.children, resolve);
  nameTables(rest);
  const text = parser.renderer.render(rest, parser.options, {});
  return {
    title: titled ? textOf(inline) : null,
    // Written by the parser, which escapes what it does not write itself.
    body: new Html(text),
  };
}

/** One line of it: of a description, say. */
export function markdownLine(source: string): Html {
  return new Html(parser.renderInline(source));
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join('');
}

/** A heading is linked to by its words, as code forges do it; a second one of the same words has a number. */
function nameHeadings(tokens: readonly Token[]): void {
  const seen = new Map<string, number>();
  tokens.forEach((token, index) => {
    if (token.type !== 'heading_open') return;
    const words = textOf(tokens[index + 1]).toLowerCase();
    const slug = words.replace(/[^\p{L}\p{N} _-]+/gu, '').replace(/ /g, '-');
    const before = seen.get(slug) ?? 0;
    seen.set(slug, before + 1);
    token.attrSet('id', before === 0 ? slug : `${slug}-${before}`);
    // The page has a heading of the first level already.
    const closing = tokens[index + 2];
    if (token.tag === 'h1' && closing) token.tag = closing.tag = 'h2';
  });
}

function resolveLinks(tokens: Token[], resolve: ResolveLink): void {
  let dropped = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '');
      const target = SAFE.test(href) ? href : resolve(href);
      dropped = target === null;
      if (target !== null) token.attrSet('href', target);
    }
    if (dropped && (token.type === 'link_open' || token.type === 'link_close')) hide(token);
    if (token.type === 'link_close') dropped = false;
  }
}

function hide(token: Token): void {
  token.type = 'text';
  token.content = '';
  token.tag = '';
  token.nesting = 0;
}

/** Wide tables and long lines of code are scrolled, by keyboard too: each has a name. */
function nameTables(tokens: readonly Token[]): void {
  let heading = '';
  let tables = 0;
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') heading = textOf(tokens[index + 1]);
    if (token.type === 'table_open') {
      tables += 1;
      token.content = `Table ${tables}${heading && `: ${heading}`}`;
    }
  });
}

/** What is typed or kept in a file: with scripts a button copies it. */
const TYPED = new Set(['sh', 'js', 'ts', 'python', 'go', 'yaml']);

const { rules } = parser.renderer;
const { escapeHtml } = parser.utils;
rules.table_open = (tokens, index) =>
  `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(tokens[index]?.content ?? '')}"><table>\n`;
rules.table_close = () => '</table></div>\n';
rules.fence = (tokens, index) => {
  const { content = '', info = '' } = tokens[index] ?? {};
  return `<pre tabindex="0"><code${TYPED.has(info) ? ' data-copy' : ''}>${escapeHtml(content)}</code></pre>\n`;
};
rules.code_block = rules.fence;
