/**
 * Answers of nodes, taken apart. What is missing, or of another kind than it should be, throws a NodeError that says what was looked
 * for: read as nothing, a broken answer would look like no payment. `maybe…` are for what a node may leave out, and only for that:
 * what is there must still be of its kind.
 */
import { NodeError } from './node-http.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** `what` is the thing itself: `block`, `the height of a block`. Each reader below takes it so. */
export function unclear(what: string, kind: string): NodeError {
  return new NodeError(what, 0, `the node gave no ${kind}`);
}

export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw unclear(what, 'object');
}

export function listOf(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw unclear(what, 'list');
}

export function textOf(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  throw unclear(what, 'text');
}

/** A height, a slot, a count, a time: 0 or more. */
export function wholeOf(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw unclear(what, 'whole number');
}

/** As `wholeOf`, or below 0. */
export function integerOf(value: unknown, what: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw unclear(what, 'whole number');
}

/** 64 bits, 0 or more: more than a number holds, which `parseExact` leaves as text. */
export function bigOf(value: unknown, what: string): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,20}$/.test(text)) return BigInt(text);
  throw unclear(what, 'whole number');
}

/** 32 bytes as 64 digits, in lower case. */
export function hashOf(value: unknown, what: string): string {
  if (typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)) return value;
  throw unclear(what, 'hash');
}

/** Of seconds. */
export function timeOf(value: unknown, what: string): Date {
  return new Date(wholeOf(value, what) * 1_000);
}

export function maybeFields(value: unknown, what: string): Fields | null {
  return isMissing(value) ? null : fieldsOf(value, what);
}

/** Empty where it is left out. */
export function maybeList(value: unknown, what: string): readonly unknown[] {
  return isMissing(value) ? [] : listOf(value, what);
}

export function maybeText(value: unknown, what: string): string | null {
  return isMissing(value) ? null : textOf(value, what);
}

export function maybeWhole(value: unknown, what: string): number | null {
  return isMissing(value) ? null : wholeOf(value, what);
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** All of them, a few at once, their results in order. */
export async function several<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < items.length; i += atOnce) {
    results.push(...(await Promise.all(items.slice(i, i + atOnce).map(work))));
  }
  return results;
}
