/**
 * Full-text index of the documentation. It reads pages as they are rendered, so every page with headings is
 * found, whether it comes from Markdown, from the OpenAPI document, or from a table of this program.
 */
import MiniSearch, { type SearchOptions } from 'minisearch';
import { PLACEHOLDER_BASE_URL } from './docs.ts';
import type { DocsView } from './layout.ts';

export interface SearchResult {
  /** With the anchor of the section. */
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  readonly excerpt: readonly ExcerptPart[];
}

interface ExcerptPart {
  readonly text: string;
  readonly match: boolean;
}

export interface DocsIndex {
  /** Best matches first. `baseUrl` replaces the placeholder of the guides in excerpts. */
  search(query: string, baseUrl: string): readonly SearchResult[];
}

interface Section {
  readonly id: number;
  readonly path: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
  readonly code: string;
}

const RESULTS_MAX = 20;
/** Bounds the work of one query. */
const TERMS_MAX = 12;
const EXCERPT_CHARS = 220;
/** Text before the first match in an excerpt. */
const LEAD_CHARS = 60;
/** Shorter terms match whole words only. */
const PREFIX_MIN_CHARS = 3;
const FUZZY_MIN_CHARS = 5;
const FUZZINESS = 0.2;
/** Questions are typed as sentences; these words would exclude the sections that answer them. */
const STOP_WORDS = new Set([
  ...'a an and are as at be by can do does for from how i if in is it my of on or the to'.split(' '),
  ...'what when with you your'.split(' '),
]);

const OPTIONS: SearchOptions = {
  boost: { heading: 4, page: 2, code: 0.5 },
  prefix: (term) => term.length >= PREFIX_MIN_CHARS,
  fuzzy: (term) => (term.length >= FUZZY_MIN_CHARS ? FUZZINESS : false),
};

export function buildIndex(pages: readonly DocsView[]): DocsIndex {
  const sections = pages.flatMap(pageSections).map((section, id): Section => ({ ...section, id }));
  const engine = new MiniSearch<Section>({
    fields: ['heading', 'page', 'text', 'code'],
    tokenize: words,
    processTerm: (term) => (STOP_WORDS.has(term.toLowerCase()) ? null : term.toLowerCase()),
  });
  engine.addAll(sections);
  return {
    search(query, baseUrl) {
      const localize = (text: string) => text.replaceAll(PLACEHOLDER_BASE_URL, baseUrl);
      const bounded = words(query).slice(0, TERMS_MAX).join(' ');
      const all = engine.search(bounded, { ...OPTIONS, combineWith: 'AND' });
      const found = all.length > 0 ? all : engine.search(bounded, { ...OPTIONS, combineWith: 'OR' });
      return found.slice(0, RESULTS_MAX).flatMap(({ id, terms }) => {
        const section = sections[id as number];
        return section ? [toResult(section, new Set(terms), localize)] : [];
      });
    },
  };
}

function toResult(
  { path, page, heading, text, code }: Section,
  terms: ReadonlySet<string>,
  localize: (text: string) => string,
): SearchResult {
  const source = hasMatch(text, terms) || !hasMatch(code, terms) ? text : code;
  return { path, page, heading, excerpt: excerptOf(localize(source), terms) };
}

/** A word of the index: `ssh_keys` is two of them. */
const WORD = /[\p{L}\p{N}]+/gu;

function words(text: string): string[] {
  return text.match(WORD) ?? [];
}

function hasMatch(text: string, terms: ReadonlySet<string>): boolean {
  return words(text).some((word) => terms.has(word.toLowerCase()));
}

/** The surroundings of the first matched word, with every matched word marked. */
function excerptOf(text: string, terms: ReadonlySet<string>): ExcerptPart[] {
  const matches = [...text.matchAll(WORD)].filter(([word]) => terms.has(word.toLowerCase()));
  const from = wordStart(text, Math.max(0, (matches[0]?.index ?? 0) - LEAD_CHARS));
  const to = wordEnd(text, from + EXCERPT_CHARS);
  const parts: ExcerptPart[] = from > 0 ? [{ text: '… ', match: false }] : [];
  let at = from;
  for (const { 0: word, index } of matches) {
    if (index < from || index + word.length > to) continue;
    parts.push({ text: text.slice(at, index), match: false }, { text: word, match: true });
    at = index + word.length;
  }
  parts.push({ text: `${text.slice(at, to)}${to < text.length ? ' …' : ''}`, match: false });
  return parts.filter((part) => part.text !== '');
}

function wordStart(text: string, at: number): number {
  if (at === 0) return 0;
  // Skip the dot between two cells of a table, too.
  return at + (/^\S* (?:· )*/.exec(text.slice(at))?.[0].length ?? 0);
}

function wordEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const space = text.lastIndexOf(' ', at);
  return space > 0 ? text.slice(0, space).replace(/[ ·]+$/, '').length : at;
}

/** Code has a field of its own; table headings and marked elements say the same on every page. */
const UNINDEXED = /<(pre|caption|thead|form|h3|\w+(?= data-unindexed))\b[\s\S]*?<\/\1>/g;

/**
 * Splits a page at the headings that its contents list. The text before the first one belongs to the title.
 */
function pageSections({ path, title, headings, body }: DocsView): Omit<Section, 'id'>[] {
  const html = body.text;
  const starts = headings.map(({ id, text }) => {
    const at = html.lastIndexOf('<', html.indexOf(` id="${id}"`));
    return { id, text, at };
  });
  const intro = { path, heading: title, part: html.slice(0, starts[0]?.at) };
  const rest = starts.map(({ id, text, at }, index) => ({
    path: `${path}#${id}`,
    heading: text,
    // From the end of the heading to the next one.
    part: html.slice(html.indexOf('</h', at), starts[index + 1]?.at),
  }));
  return [intro, ...rest].map(({ part, ...place }) => {
    const code = [...part.matchAll(/<pre[\s\S]*?<\/pre>/g)].map(([block]) => plainText(block)).join(' ');
    const text = plainText(part.replace(UNINDEXED, ' '));
    return { ...place, page: title, text, code };
  });
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** Text of our own markup: tags become spaces between blocks, dots between cells, nothing within a line. */
function plainText(markup: string): string {
  return markup
    .replace(/(?<!<tr>\s*)(?:<\/t[dh]>\s*)?<t[dh]\b[^>]*>/g, ' · ')
    .replace(/<\/?(?:p|li|ul|ol|div|h\d|tr|table|section|pre|br|label)\b[^>]*>/g, ' ')
    .replace(/<[^>]+>/g, '')
    .replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
      code === undefined ? (ENTITIES[name ?? ''] ?? whole) : String.fromCodePoint(Number(code)),
    )
    .replace(/\s+/g, ' ')
    .trim();
}
