/**
 * Code blocks of the documentation, highlighted on the server: the page needs no script, and colors come
 * from the stylesheet. Every character of the code is escaped, by highlight.js or here.
 */
import { createRequire } from 'node:module';
import { Html } from '../parts/html.ts';

interface Highlighter {
  registerLanguage(name: string, grammar: unknown): void;
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { readonly value: string };
}

// Loaded with require: an import of its types would add the DOM's globals to the whole project.
const require = createRequire(import.meta.url);
const highlighter = require('highlight.js/lib/core') as Highlighter;

const LANGUAGES = 'bash go http ini javascript json python sql typescript yaml';
for (const name of LANGUAGES.split(' ')) {
  highlighter.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
}

/** Languages that readers type or save to a file. With scripts, these blocks get a copy button. */
const COPYABLE_LANGUAGES = new Set(['sh', 'js', 'ts', 'python', 'go', 'yaml']);

interface CodeOptions {
  /** As after a Markdown fence: `sh`, `json`. Unknown languages are escaped only. */
  readonly language: string;
  /** Whether the block gets a copy button; by default the language decides. */
  readonly copyable?: boolean;
}

/**
 * A block of code. The inner element scrolls, so that the copy button stays in the corner of the outer one.
 */
export function codeBlock(code: string, { language, copyable }: CodeOptions): Html {
  const copy = (copyable ?? COPYABLE_LANGUAGES.has(language)) ? ' data-copy' : '';
  return new Html(`<pre class="code"><code tabindex="0"${copy}>${highlight(code, language)}</code></pre>`);
}

/**
 * Entities of highlight.js, as the rest of the panel writes them. Element content needs no escaped quotes.
 */
const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&#38;',
  '&lt;': '&#60;',
  '&gt;': '&#62;',
  '&quot;': '"',
  '&#x27;': "'",
};

function highlight(code: string, language: string): string {
  if (!highlighter.getLanguage(language)) {
    return code.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  }
  const { value } = highlighter.highlight(code, { language, ignoreIllegals: true });
  return shortenClasses(value).replace(/&[\w#]+;/g, (entity) => ENTITIES[entity] ?? entity);
}

/** highlight.js's scopes by the class that colors them. Other scopes have the color of text. */
const CLASSES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hc: ['comment', 'quote', 'doctag', 'meta'],
    hk: ['keyword', 'literal', 'built_in', 'type', 'section'],
    hs: ['string', 'regexp'],
    hn: ['number', 'symbol'],
    ha: ['attr', 'attribute', 'variable', 'title'],
  }).flatMap(([name, scopes]) => scopes.map((scope) => [scope, name] as const)),
);

/** Shortens the markup: a page can have a thousand colored words. Spans without a color are dropped. */
function shortenClasses(markup: string): string {
  const open: { readonly name: string | undefined; readonly kept: boolean }[] = [];
  return markup.replace(/<span class="(?:hljs-)?([\w-]*)[^"]*">|<\/span>/g, (tag, scope?: string) => {
    if (tag === '</span>') return open.pop()?.kept ? '</i>' : '';
    const name = CLASSES.get(scope ?? '');
    const kept = name !== undefined && name !== open.at(-1)?.name;
    open.push({ name, kept });
    return kept ? `<i class=${name}>` : '';
  });
}
