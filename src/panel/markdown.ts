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

const SAFE_HREF = /^(?:https?:\/\/|mailto:|\/(?!\/)|#)/i;

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable('image');
// What is no safe address yet may be the name of another document: `resolve` decides before anything is shown.
parser.validateLink = (href) => SAFE_HREF.test(href) || /^[\w./-]+(?:#[\w-]*)?$/.test(href);

type Token = ReturnType<typeof parser.parse>[number];

/** A whole document. Its first heading becomes the title. */
export function markdown(source: string, resolve: ResolveLink = () => null): MarkdownPage {
  const tokens = parser.parse(source, {});
  const [first, inline] = tokens;
  const hasTitle = first?.type === 'heading_open' && first.tag === 'h1';
  const rest = hasTitle ? tokens.slice(3) : tokens;
  addHeadingIds(rest);
  for (const token of rest) if (token.children) resolveLinks(token.children, resolve);
  labelTables(rest);
  const text = parser.renderer.render(rest, parser.options, {});
  return {
    title: hasTitle ? plainText(inline) : null,
    // Written by the parser, which escapes what it does not write itself.
    body: new Html(text),
  };
}

/** One line of it: of a description, say. */
export function markdownLine(source: string): Html {
  return new Html(parser.renderInline(source));
}

function plainText(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join('');
}

/** A heading is linked to by its words, as code forges do it; a second one of the same words has a number. */
function addHeadingIds(tokens: readonly Token[]): void {
  const seen = new Map<string, number>();
  tokens.forEach((token, index) => {
    if (token.type !== 'heading_open') return;
    const words = plainText(tokens[index + 1]).toLowerCase();
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
  let isDropped = false;
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '');
      const target = SAFE_HREF.test(href) ? href : resolve(href);
      isDropped = target === null;
      if (target !== null) token.attrSet('href', target);
    }
    if (isDropped && (token.type === 'link_open' || token.type === 'link_close')) hideToken(token);
    if (token.type === 'link_close') isDropped = false;
  }
}

function hideToken(token: Token): void {
  token.type = 'text';
  token.content = '';
  token.tag = '';
  token.nesting = 0;
}

/** Wide tables and long lines of code are scrolled, by keyboard too: each has a name. */
function labelTables(tokens: readonly Token[]): void {
  let heading = '';
  let tables = 0;
  tokens.forEach((token, index) => {
    if (token.type === 'heading_open') heading = plainText(tokens[index + 1]);
    if (token.type === 'table_open') {
      tables += 1;
      token.content = `Table ${tables}${heading && `: ${heading}`}`;
    }
  });
}

/** What is typed or kept in a file: with scripts a button copies it. */
const COPYABLE_LANGUAGES = new Set(['sh', 'js', 'ts', 'python', 'go', 'yaml']);

const { rules } = parser.renderer;
const { escapeHtml } = parser.utils;
rules.table_open = (tokens, index) =>
  `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(tokens[index]?.content ?? '')}"><table>\n`;
rules.table_close = () => '</table></div>\n';
rules.fence = (tokens, index) => {
  const { content = '', info = '' } = tokens[index] ?? {};
  return `<pre tabindex="0"><code${COPYABLE_LANGUAGES.has(info) ? ' data-copy' : ''}>${escapeHtml(content)}</code></pre>\n`;
};
rules.code_block = rules.fence;
