/** Parses a catalog file. An error names its line and place, and the expected value. */
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { closestMatch } from '../../kernel/closest-match.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { checkCatalogue } from './check.ts';
import {
  allowedKeys,
  CatalogueFile,
  type CatalogueProblem,
  describeExpected,
  type FilePath,
} from './file-schema.ts';

/** Throws an OperatorError for the first problem: `line 14, plans[0].price_usd_month: expected …`. */
export function parseCatalogue(text: string, options: { readonly sandbox: boolean }): CatalogueFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors[0] ?? document.warnings[0];
  if (broken) {
    const message = broken.code === 'MULTIPLE_DOCS' ? 'a file must be a single document' : broken.message;
    throw new OperatorError(`catalog, line ${lines.linePos(broken.pos[0]).line}: ${message}`);
  }
  const content = toPlain(document);
  const faults = shapeProblems(content);
  const problems = faults.length > 0 ? faults : checkCatalogue(content as CatalogueFile, options);
  const [first, ...others] = problems;
  if (first) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    throw new OperatorError(
      `catalog, line ${lineNumberAt(document, lines, first.path)}, ${formatProblem(first)}${more}`,
    );
  }
  return content as CatalogueFile;
}

function toPlain(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new OperatorError(`catalog: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

/** Returns unknown keys first, because a misspelled key often causes the missing one. */
function shapeProblems(content: unknown): CatalogueProblem[] {
  const errors = Value.Errors(CatalogueFile, content);
  const isUnknownKeyError = (error: (typeof errors)[number]) => error.keyword === 'additionalProperties';
  const unknownFirst = errors.toSorted((a, b) => Number(isUnknownKeyError(b)) - Number(isUnknownKeyError(a)));
  return unknownFirst.flatMap((error): CatalogueProblem[] => {
    const path = error.instancePath.split('/').slice(1).map(parsePathSegment);
    if (error.keyword === 'required') {
      return error.params.requiredProperties.map((key) => ({ path, message: `${key} is required` }));
    }
    if (error.keyword === 'additionalProperties') {
      return error.params.additionalProperties.map((key) => unknownKeyProblem(path, key));
    }
    // An unknown key also fails against the `false` schema.
    return error.keyword === 'boolean' ? [] : [{ path, message: `expected ${describeExpected(path)}` }];
  });
}

function unknownKeyProblem(path: FilePath, key: string): CatalogueProblem {
  const known = allowedKeys(path);
  const suggestion = closestMatch(key, known);
  const hint = suggestion ? `did you mean ${suggestion}?` : `allowed keys are ${known.join(', ')}`;
  return { path: [...path, key], message: `unknown key; ${hint}` };
}

function parsePathSegment(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Returns the line of the place, or of its nearest parent. */
function lineNumberAt(document: Document, lines: LineCounter, path: FilePath): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}

function formatProblem(fault: CatalogueProblem): string {
  const place = fault.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return `${place.replace(/^\./, '') || 'the file'}: ${fault.message}`;
}
