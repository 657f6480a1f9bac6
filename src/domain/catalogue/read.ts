/** Reads a catalogue file. A fault names its line and place, and what is expected there. */
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { nearest } from '../../kernel/nearest.ts';
import { Refusal } from '../../kernel/refusal.ts';
import { checkCatalogue } from './check.ts';
import { CatalogueFile, expectedAt, type Fault, type FilePath, keysAt } from './file.ts';

/** Throws a Refusal that names the first fault: `line 14, plans[0].price_usd_month: expected …`. */
export function readCatalogue(text: string, options: { readonly sandbox: boolean }): CatalogueFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors[0] ?? document.warnings[0];
  if (broken) {
    const says = broken.code === 'MULTIPLE_DOCS' ? 'a file is one document' : broken.message;
    throw new Refusal(`catalogue, line ${lines.linePos(broken.pos[0]).line}: ${says}`);
  }
  const content = toPlain(document);
  const faults = shapeFaults(content);
  const found = faults.length > 0 ? faults : checkCatalogue(content as CatalogueFile, options);
  const [first, ...others] = found;
  if (first) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    throw new Refusal(`catalogue, line ${lineOf(document, lines, first.path)}, ${show(first)}${more}`);
  }
  return content as CatalogueFile;
}

function toPlain(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new Refusal(`catalogue: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

/** Unknown keys first: they are often the misspelt ones that are then missing. */
function shapeFaults(content: unknown): Fault[] {
  const errors = Value.Errors(CatalogueFile, content);
  const ofUnknownKey = (error: (typeof errors)[number]) => error.keyword === 'additionalProperties';
  const unknownFirst = errors.toSorted((a, b) => Number(ofUnknownKey(b)) - Number(ofUnknownKey(a)));
  return unknownFirst.flatMap((error): Fault[] => {
    const path = error.instancePath.split('/').slice(1).map(step);
    if (error.keyword === 'required') {
      return error.params.requiredProperties.map((key) => ({ path, says: `${key} is missing` }));
    }
    if (error.keyword === 'additionalProperties') {
      return error.params.additionalProperties.map((key) => unknownKey(path, key));
    }
    // An unknown key fails against `false` too.
    return error.keyword === 'boolean' ? [] : [{ path, says: `expected ${expectedAt(path)}` }];
  });
}

function unknownKey(path: FilePath, key: string): Fault {
  const known = keysAt(path);
  const meant = nearest(key, known);
  const cure = meant ? `did you mean ${meant}?` : `there are ${known.join(', ')}`;
  return { path: [...path, key], says: `unknown key; ${cure}` };
}

function step(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The line of the place, or of the nearest thing around it. */
function lineOf(document: Document, lines: LineCounter, path: FilePath): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function show(fault: Fault): string {
  const place = fault.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return `${place.replace(/^\./, '') || 'the file'}: ${fault.says}`;
}
