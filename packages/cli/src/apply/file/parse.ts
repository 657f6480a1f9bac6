/** Parses YAML, and JSON as a subset of it, and locates values in the text. */
import { type Document, isMap, isNode, isSeq, LineCounter, parseAllDocuments, type Range, visit } from 'yaml';
import type { Path } from './reader.ts';

export interface Parsed {
  readonly value: unknown;
  /** `skerry.yaml:12`: the line of the value, or of the closest value around it. */
  readonly locate: (path: Path) => string;
}

interface SyntaxFault {
  readonly place: string;
  readonly message: string;
}

export const FILE_MAX_BYTES = 1024 * 1024;
const DOCUMENTS_MAX = 20;
/** Bounds the expansion of anchors: a small text must not become a huge value. */
const ALIASES_MAX = 1_000;

/** `name` identifies the text in error messages. */
export function parseFile(name: string, content: string): { parsed: Parsed[]; faults: SyntaxFault[] } {
  const lines = new LineCounter();
  const found = parseAllDocuments(content, { lineCounter: lines, merge: true, prettyErrors: false });
  const documents = 'empty' in found ? [] : found;
  const faults: SyntaxFault[] = [];
  const at = (offset: number | undefined) =>
    offset === undefined ? name : `${name}:${lines.linePos(offset).line}`;
  if (documents.length > DOCUMENTS_MAX) {
    return { parsed: [], faults: [{ place: name, message: `has more than ${DOCUMENTS_MAX} documents` }] };
  }
  const parsed = documents.flatMap((document) => {
    for (const error of document.errors)
      faults.push({ place: at(error.pos[0]), message: collapseWhitespace(error.message) });
    if (document.errors.length > 0) return [];
    try {
      const value: unknown = document.toJS({ maxAliasCount: ALIASES_MAX });
      // An empty document, such as after the last `---`.
      if (value === null) return [];
      return [{ value, locate: (path: Path) => at(offsetOf(document, path)) }];
    } catch (error) {
      faults.push({
        place: at(findDanglingAlias(document)),
        message: collapseWhitespace((error as Error).message),
      });
      return [];
    }
  });
  return { parsed, faults };
}

function offsetOf(document: Document.Parsed, path: Path): number | undefined {
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const step of path) {
    const next = isMap(node)
      ? node.items.find(({ key }) => (isNode(key) ? key.toJSON() : key) === step)
      : isSeq(node)
        ? { key: null, value: node.items[Number(step)] }
        : undefined;
    if (next === undefined) break;
    offset = startOf(next.key) ?? startOf(next.value) ?? offset;
    node = next.value;
  }
  return offset;
}

/** Finds an alias without a preceding anchor. */
function findDanglingAlias(document: Document.Parsed): number | undefined {
  let offset: number | undefined;
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) return undefined;
      offset = startOf(alias);
      return visit.BREAK;
    },
  });
  return offset;
}

function startOf(node: unknown): number | undefined {
  const { range } = (node ?? {}) as { readonly range?: Range | null };
  return range?.[0];
}

function collapseWhitespace(message: string): string {
  return message.replace(/\s+/g, ' ').trim();
}
