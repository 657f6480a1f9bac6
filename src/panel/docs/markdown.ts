/**
 * Renders Markdown: our guides and the operator's terms. HTML in it stays text, images are dropped, and
 * links lead only to the web, a mailbox, or this site.
 */
import MarkdownIt from 'markdown-it';
import { Html } from '../parts/html.ts';
import { codeBlock } from './highlight.ts';

/** A heading that can be linked to. */
interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: 2 | 3;
}

interface MarkdownPage {
  /** The text of the first heading, if the document starts with one of level 1. */
  readonly title: string | null;
  /** Headings of levels 2 and 3, in order. */
  readonly headings: readonly Heading[];
  readonly body: Html;
}

/** Returns the address for a link to another file. Null turns the link into plain text. */
type ResolveLink = (href: string) => string | null;

const SAFE_HREF = /^(?:https?:\/\/|mailto:|\/(?!\/)|#)/i;

const parser = new MarkdownIt({ html: false, linkify: false, typographer: false }).disable('image');
// Keep links to other files: resolveLinks replaces or drops them before anything is rendered.
parser.validateLink = (href) => SAFE_HREF.test(href) || /^[\w./-]+(?:#[\w-]*)?$/.test(href);

type Token = ReturnType<typeof parser.parse>[number];

/** Renders a whole document. Its first heading becomes the title. */
export function markdown(source: string, resolve: ResolveLink = () => null): MarkdownPage {
  const tokens = parser.parse(source, {});
  const [first, inline] = tokens;
  const hasTitle = first?.type === 'heading_open' && first.tag === 'h1';
  const rest = hasTitle ? tokens.slice(3) : tokens;
  const headings = addHeadingIds(rest);
  for (const token of rest) if (token.children) resolveLinks(token.children, resolve);
  labelTables(rest);
  const text = parser.renderer.render(rest, parser.options, {});
  return {
    title: hasTitle ? plainText(inline) : null,
    headings,
    // Safe: the parser escapes all text.
    body: new Html(text),
  };
}

/** Renders one line without block elements, for example a description. */
export function markdownLine(source: string): Html {
  return new Html(parser.renderInline(source));
}

function plainText(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join('');
}

/** Derives ids from the words of headings, like code forges do. Repeated headings get a number. */
function addHeadingIds(tokens: readonly Token[]): Heading[] {
  const seen = new Map<string, number>();
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return [];
    const text = plainText(tokens[index + 1]);
    const slug = slugify(text);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    const id = count === 0 ? slug : `${slug}-${count}`;
    token.attrSet('id', id);
    // The page already has a heading of level 1.
    const closing = tokens[index + 2];
    if (token.tag === 'h1' && closing) token.tag = closing.tag = 'h2';
    const level = Number(token.tag.slice(1));
    return level === 2 || level === 3 ? [{ id, text, level }] : [];
  });
}

function slugify(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]+/gu, '')
    .replace(/ /g, '-');
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

/** Names every table after its section: wide tables scroll, so keyboard users need a label. */
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

const { rules } = parser.renderer;
const { escapeHtml } = parser.utils;
rules.table_open = (tokens, index) =>
  `<div class="scroll" tabindex="0" role="region" ` +
  `aria-label="${escapeHtml(tokens[index]?.content ?? '')}"><table>\n`;
rules.table_close = () => '</table></div>\n';
rules.fence = (tokens, index) => {
  const { content = '', info = '' } = tokens[index] ?? {};
  return `${codeBlock(content, { language: info.trim() })}\n`;
};
rules.code_block = rules.fence;
