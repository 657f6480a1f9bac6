/**
 * Parses a catalog file: its shape, then rules across its parts, and rules that a pattern cannot express.
 * An error names its line and place, and the expected value.
 */
import { Value } from 'typebox/value';
import { type Document, isNode, LineCounter, parseDocument } from 'yaml';
import { closestMatch } from '../../kernel/closest-match.ts';
import { parseUnits } from '../../kernel/money.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { parseRfc3339 } from '../../kernel/time.ts';
import { blockProblem } from '../inventory/blocks.ts';
import { imageKey } from './diff.ts';
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
  const problems = findProblems(content, options);
  const [first, ...others] = problems;
  if (first) {
    const more = others.length > 0 ? ` (and ${others.length} more)` : '';
    throw new OperatorError(
      `catalog, line ${lineNumberAt(document, lines, first.path)}, ${formatProblem(first)}${more}`,
    );
  }
  return content as CatalogueFile;
}

/** Returns what breaks the rules of catalog files: the shape first, and then the rest. */
export function findProblems(content: unknown, options: { readonly sandbox: boolean }): CatalogueProblem[] {
  const faults = shapeProblems(content);
  return faults.length > 0 ? faults : checkCatalogue(content as CatalogueFile, options);
}

function toPlain(document: Document): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw new OperatorError(`catalog: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

/** Returns unknown keys first, because a misspelled key often causes the missing one. */
export function shapeProblems(content: unknown): CatalogueProblem[] {
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

export function formatProblem(fault: CatalogueProblem): string {
  const place = fault.path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('');
  return `${place.replace(/^\./, '') || 'the file'}: ${fault.message}`;
}

export function checkCatalogue(
  file: CatalogueFile,
  options: { readonly sandbox: boolean },
): CatalogueProblem[] {
  const regions = new Set(file.regions.map((region) => region.id));
  return [
    ...findDuplicates(file.regions, 'regions', 'id', (region) => region.id),
    ...findDuplicates(file.regions, 'regions', 'session_code', (region) => region.session_code),
    ...findDuplicates(file.plans, 'plans', 'id', (plan) => plan.id),
    ...findDuplicates(file.images, 'images', 'version', imageKey),
    ...file.plans.flatMap((plan, index) => planProblems(plan, ['plans', index], regions)),
    ...file.images.flatMap((image, index) => imageProblems(image, ['images', index], options)),
    ...inventoryProblems(file, regions),
  ];
}

function planProblems(
  plan: CatalogueFile['plans'][number],
  path: FilePath,
  regions: Set<string>,
): CatalogueProblem[] {
  const price = parseUnits(plan.price_usd_month, 2);
  return [
    ...(price === 0n ? [{ path: [...path, 'price_usd_month'], message: 'the price must be above 0' }] : []),
    ...(plan.category === 'dedicated' && plan.host_tags !== undefined
      ? [{ path: [...path, 'host_tags'], message: 'a dedicated server has a machine of its own, not a host' }]
      : []),
    ...plan.regions.flatMap((id, index) => unknownRegion(id, [...path, 'regions', index], regions)),
    ...findDuplicates(plan.regions, [...path, 'regions'], undefined, (id) => id),
  ];
}

function imageProblems(
  image: CatalogueFile['images'][number],
  path: FilePath,
  options: { readonly sandbox: boolean },
): CatalogueProblem[] {
  const problems: CatalogueProblem[] = [];
  if (image.family === 'custom') {
    problems.push({ path: [...path, 'family'], message: 'custom is reserved for uploaded images' });
  }
  for (const key of ['released_at', 'deprecated_at'] as const) {
    const date = image[key];
    if (date && !parseRfc3339(`${date}T00:00:00Z`)) {
      problems.push({ path: [...path, key], message: 'this date does not exist' });
    }
  }
  if (image.deprecated_days_ago !== undefined) {
    const key = [...path, 'deprecated_days_ago'];
    if (!options.sandbox) problems.push({ path: key, message: 'sandbox only; use deprecated_at' });
    if (image.deprecated_at) problems.push({ path: key, message: 'use this or deprecated_at, not both' });
  }
  return problems;
}

function inventoryProblems(file: CatalogueFile, regions: Set<string>): CatalogueProblem[] {
  const { hosts = [], machines = [], ip_blocks: blocks = [] } = file.inventory ?? {};
  const dedicated = new Set(
    file.plans.filter((plan) => plan.category === 'dedicated').map((plan) => plan.id),
  );
  const at = (part: string, index: number, key: string) => ['inventory', part, index, key];
  return [
    ...findDuplicates(hosts, ['inventory', 'hosts'], 'name', (host) => host.name),
    ...findDuplicates(machines, ['inventory', 'machines'], 'prefix', (entry) => entry.prefix),
    ...hosts.flatMap((host, index) => unknownRegion(host.region, at('hosts', index, 'region'), regions)),
    ...machines.flatMap((entry, index) => [
      ...unknownRegion(entry.region, at('machines', index, 'region'), regions),
      ...(dedicated.has(entry.plan)
        ? []
        : [{ path: at('machines', index, 'plan'), message: 'no dedicated plan in this file has this id' }]),
    ]),
    ...blocks.flatMap((entry, index) => {
      const message = blockProblem({ block: entry.block, gateway: entry.gateway ?? null });
      const problems = message === undefined ? [] : [{ path: at('ip_blocks', index, 'block'), message }];
      return [...problems, ...unknownRegion(entry.region, at('ip_blocks', index, 'region'), regions)];
    }),
  ];
}

function unknownRegion(id: string, path: FilePath, regions: Set<string>): CatalogueProblem[] {
  return regions.has(id) ? [] : [{ path, message: `region ${id} is not in this file` }];
}

/** Returns entries whose key already appeared. */
function findDuplicates<Entry>(
  entries: readonly Entry[],
  part: string | FilePath,
  key: string | undefined,
  keyOf: (entry: Entry) => string,
): CatalogueProblem[] {
  const keys = entries.map(keyOf);
  const path = typeof part === 'string' ? [part] : part;
  return keys.flatMap((value, index) =>
    keys.indexOf(value) === index
      ? []
      : [{ path: [...path, index, ...(key === undefined ? [] : [key])], message: `${value} is a duplicate` }],
  );
}
