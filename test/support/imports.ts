/**
 * Reads the imports of a TypeScript file without a compiler. Separates comments, strings, templates, and
 * regular expressions from code, and searches the code for `import` and `export … from`, including types.
 */

/** One import. `specifier` is null for a computed import (`import(name)`), which cannot be followed. */
export interface Import {
  readonly specifier: string | null;
  readonly line: number;
}

interface Token {
  readonly kind: 'word' | 'string' | 'punctuation';
  readonly text: string;
  readonly line: number;
}

// Sticky patterns, tried in this order at each position.
const SPACE = /\s+|\/\/[^\n]*|\/\*.*?\*\//sy;
const STRING = /'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/sy;
const PLAIN_TEMPLATE = /`((?:[^`\\$]|\\.|\$(?!\{))*)`/sy;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const WORD = /[\p{ID_Start}$_#@][\p{ID_Continue}$]*|\d[\w.]*/uy;
const TEMPLATE_PART = /(?:[^`\\$]|\\.|\$(?!\{))*(`|\$\{)/sy;

/** After these words a slash starts a regular expression; after any other word it divides. */
const BEFORE_REGEX = /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|await|yield)$/;

/** Returns all imports of a file in source order: `import`, `import type`, `export … from`, `import('…')`. */
export function parseImports(source: string): Import[] {
  const tokens = tokenize(source);
  const imports: Import[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token?.kind !== 'word' || tokens[at - 1]?.text === '.' || tokens[at + 1]?.text === ':') continue;
    if (token.text === 'import') imports.push(...importAt(tokens, at));
    if (token.text === 'export') imports.push(...reexportAt(tokens, at));
  }
  return imports;
}

function importAt(tokens: readonly Token[], at: number): Import[] {
  const next = tokens[at + 1];
  const line = tokens[at]?.line ?? 0;
  if (next === undefined || next.text === '.') return []; // import.meta
  if (next.kind === 'string') return [{ specifier: next.text, line }];
  if (next.text !== '(') return importFrom(tokens, at + 1);
  const name = tokens[at + 2];
  const isLiteral = tokens[at + 3]?.text === ')' || tokens[at + 3]?.text === ',';
  return [{ specifier: name?.kind === 'string' && isLiteral ? name.text : null, line }];
}

function reexportAt(tokens: readonly Token[], at: number): Import[] {
  const start = tokens[at + 1]?.text === 'type' ? at + 2 : at + 1;
  const opening = tokens[start]?.text;
  if (opening === '*') return importFrom(tokens, start);
  if (opening !== '{') return [];
  const closing = tokens.findIndex((token, index) => index > start && token.text === '}');
  return tokens[closing + 1]?.text === 'from' ? importFrom(tokens, closing) : [];
}

/** Returns the first `from '…'` at or after `start`; import and export clauses contain only one. */
function importFrom(tokens: readonly Token[], start: number): Import[] {
  for (let at = start; at < tokens.length && tokens[at]?.text !== ';'; at += 1) {
    const name = tokens[at + 1];
    if (tokens[at]?.text === 'from' && name?.kind === 'string') {
      return [{ specifier: name.text, line: name.line }];
    }
  }
  return [];
}

function tokenize(source: string): Token[] {
  const scanner = new Scanner(source);
  while (scanner.readToken());
  return scanner.tokens;
}

class Scanner {
  readonly tokens: Token[] = [];
  private readonly source: string;
  private at = 0;
  private line = 1;
  private braces = 0;
  /** The brace depth at which each open `${` of a template ends. */
  private readonly templateDepths: number[] = [];

  constructor(source: string) {
    this.source = source;
  }

  /** Reads one token or one run of whitespace; returns false at the end. */
  readToken(): boolean {
    if (this.at >= this.source.length) return false;
    if (this.match(SPACE)) return true;
    const line = this.line;
    const text = this.match(STRING) ?? this.match(PLAIN_TEMPLATE);
    if (text) return this.addToken('string', text[1] ?? text[2] ?? '', line);
    if (regexMayFollow(this.tokens.at(-1)) && this.match(REGEX))
      return this.addToken('punctuation', '/', line);
    const word = this.match(WORD);
    if (word) return this.addToken('word', word[0], line);
    return this.readCharacter(this.source[this.at++] ?? '');
  }

  private readCharacter(char: string): boolean {
    if (char === '`') return this.readTemplate();
    if (char === '}' && this.templateDepths.at(-1) === this.braces) {
      this.templateDepths.pop();
      return this.readTemplate();
    }
    if (char === '{') this.braces += 1;
    if (char === '}') this.braces -= 1;
    return this.addToken('punctuation', char, this.line);
  }

  /** Skips a template's text to its end or to the next `${`, whose code is read like any other. */
  private readTemplate(): boolean {
    if (this.match(TEMPLATE_PART)?.[1] !== '${') return this.addToken('punctuation', '`', this.line);
    this.templateDepths.push(this.braces);
    return true;
  }

  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.source);
    if (match === null) return null;
    this.at += match[0].length;
    this.line += match[0].split('\n').length - 1;
    return match;
  }

  private addToken(kind: Token['kind'], text: string, line: number): true {
    this.tokens.push({ kind, text, line });
    return true;
  }
}

function regexMayFollow(previous: Token | undefined): boolean {
  if (previous === undefined) return true;
  if (previous.kind === 'word') return BEFORE_REGEX.test(previous.text);
  return previous.kind === 'punctuation' && !/[)\]}`/]/.test(previous.text);
}
