/**
 * Queries are as strict as bodies: an unknown key, an invalid value, or a repeated key is rejected by name.
 * Only the filter by label may be repeated.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type TObject, Type } from 'typebox';
import { type ErrorItem, invalidRequest } from '../../kernel/fail.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import { parseRfc3339 } from '../../kernel/time.ts';
import { joinLabels } from '../../spec/label-filters.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { FilterRule, ListRules, PageRequest } from '../../spec/lists.ts';
import { PATTERNS } from '../../spec/patterns.ts';
import { type CursorScope, readCursor } from './cursor.ts';
import { isStorable } from './json-body.ts';
import { type Check, createChecker } from './validation.ts';

export type RawQuery = Readonly<Record<string, string | readonly string[]>>;

const NO_QUERY = Type.Object({}, { additionalProperties: false });
const FILTER_MAX_CHARS = 255;

export type QueryReader = (raw: RawQuery) => Record<string, unknown>;

/** Reads the query of a route that is not a list, and converts numbers and booleans as the schema says. */
export function queryReader(schema: TObject = NO_QUERY): QueryReader {
  const check: Check = createChecker(schema);
  const properties = schema.properties as Readonly<Record<string, { readonly type?: string }>>;
  return (raw) => {
    const query: Record<string, unknown> = {};
    for (const [name, text] of Object.entries(raw)) {
      const value = typeof text === 'string' ? coerce(text, properties[name]?.type) : text;
      // Treat `__proto__` as any other key, so that it is rejected as an unknown one.
      Object.defineProperty(query, name, { value, enumerable: true });
    }
    const items = check(query);
    if (items.length > 0) invalidRequest(items);
    return query;
  };
}

/** Reads the headers that a route accepts, by the same rules. An empty header counts as absent. */
export function headerReader(schema: TObject): (headers: IncomingHttpHeaders) => Record<string, unknown> {
  const read = queryReader(schema);
  const names = Object.keys(schema.properties);
  return (headers) => {
    const present = names.flatMap((name) => {
      const text = headers[name.toLowerCase()];
      return text === undefined || text === '' ? [] : [[name, text] as const];
    });
    return read(Object.fromEntries(present));
  };
}

function coerce(text: string, type: string | undefined): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if ((type === 'integer' || type === 'number') && /^-?\d+$/.test(text)) {
    // A number beyond the safe integers exceeds every bound, and so does the largest safe integer.
    return Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  }
  return text;
}

/** Reads page, filter, and sort of a list. `place` binds the cursor to the list and its reader. */
export function readPageRequest(
  raw: RawQuery,
  rules: ListRules,
  { keys, place }: { readonly keys: KeyRing; readonly place: Omit<CursorScope, 'filter' | 'sort'> },
): PageRequest {
  const items: ErrorItem[] = [];
  const filter: Record<string, string> = {};
  let size: number = LIMITS.pageSizeDefault;
  let sort = rules.defaultSort;
  let cursor: string | undefined;
  for (const [name, text] of Object.entries(raw)) {
    const match = matchFilter(name, rules);
    if (match !== undefined) {
      const value = readFilter(name, text, match.rule);
      if (typeof value !== 'string') items.push(value);
      else if (Object.hasOwn(filter, match.name)) items.push({ field: name, issue: 'invalid_value' });
      else filter[match.name] = value;
    } else if (typeof text !== 'string') {
      items.push({ field: name, issue: isPageKey(name) ? 'invalid_value' : 'unknown_key' });
    } else if (name === 'page_size') {
      const item = sizeProblem(text);
      if (item) items.push(item);
      else size = Number(text);
    } else if (name === 'sort') {
      const allowed = rules.sorts.flatMap((field) => [field, `-${field}`]);
      if (allowed.includes(text)) sort = text;
      else items.push({ field: 'sort', issue: 'invalid_value', allowed });
    } else if (name === 'cursor') {
      cursor = text;
    } else {
      items.push({ field: name, issue: 'unknown_key' });
    }
  }
  if (items.length > 0) invalidRequest(items);
  const after = cursor === undefined ? null : readCursor(keys, cursor, { ...place, filter, sort });
  return { filter, sort: sort.replace(/^-/, ''), descending: sort.startsWith('-'), after, size };
}

function isPageKey(name: string): boolean {
  return ['page_size', 'sort', 'cursor'].includes(name);
}

function matchFilter(
  key: string,
  { filters, plainFilters }: ListRules,
): { readonly name: string; readonly rule: FilterRule } | undefined {
  const bracketed = /^filter\[([a-z_]+)\]$/.exec(key)?.[1];
  const name = bracketed ?? key;
  const rule = Object.hasOwn(filters, name) ? filters[name] : undefined;
  if (!rule) return undefined;
  const isPlain = bracketed === undefined;
  const isKnown = rule.type === 'labels' ? isPlain : plainFilters === true || !isPlain;
  return isKnown ? { name, rule } : undefined;
}

/** Returns the value of a filter, or its problem. */
function readFilter(name: string, text: string | readonly string[], rule: FilterRule): string | ErrorItem {
  if (rule.type === 'labels') return readLabels(name, [text].flat());
  if (typeof text !== 'string') return { field: name, issue: 'invalid_value' };
  if (rule.allowed && !rule.allowed.includes(text)) {
    return { field: name, issue: 'invalid_value', allowed: rule.allowed };
  }
  if (rule.type === 'time') {
    return parseRfc3339(text) ? text : { field: name, issue: 'invalid_format', format: 'date-time' };
  }
  if (text.length > FILTER_MAX_CHARS) return { field: name, issue: 'max_length', max: FILTER_MAX_CHARS };
  return isStorable(text) ? text : { field: name, issue: 'invalid_format' };
}

const LABEL_FILTER = new RegExp(PATTERNS.labelFilter.pattern, 'u');

function readLabels(name: string, filters: readonly string[]): string | ErrorItem {
  // An item has no more labels, so more filters would match nothing.
  const max = LIMITS.labelPairsMax;
  if (filters.length > max) return { field: name, issue: 'max_items', max };
  if (filters.every((filter) => LABEL_FILTER.test(filter))) return joinLabels(filters);
  return { field: name, issue: 'invalid_format', pattern: PATTERNS.labelFilter.pattern };
}

function sizeProblem(text: string): ErrorItem | null {
  if (!/^-?\d{1,9}$/.test(text)) return { field: 'page_size', issue: 'invalid_type' };
  const size = Number(text);
  if (size < 1) return { field: 'page_size', issue: 'min', min: 1 };
  if (size > LIMITS.pageSizeMax) return { field: 'page_size', issue: 'max', max: LIMITS.pageSizeMax };
  return null;
}
