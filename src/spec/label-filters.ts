/**
 * Label filters: `label=env:prod`, repeated in a query for labels that must all match. A list's request holds
 * them as one text with a line for each, sorted, so that the order in a query has no effect. Neither keys nor
 * values contain line breaks.
 */
import { PATTERNS } from './patterns.ts';

export function joinLabels(filters: readonly string[]): string {
  return [...new Set(filters)].sort().join('\n');
}

/**
 * Returns the labels that an item must have. Undefined if two filters want different values of one key: no
 * item can match. A value may contain colons, a key may not.
 */
export function requiredLabels(joined: string): Readonly<Record<string, string>> | undefined {
  const pairs = joined.split('\n').map((filter) => {
    const at = filter.indexOf(':');
    return [filter.slice(0, at), filter.slice(at + 1)] as const;
  });
  const keys = new Set(pairs.map(([key]) => key));
  return keys.size === pairs.length ? Object.fromEntries(pairs) : undefined;
}

const SELECTED = /^([^=]+)==?(.*)$/;

/**
 * Parses a label selector: `env=ci,team=web`, pairs that must all match. Undefined if it is malformed or
 * names a key twice.
 */
export function parseLabelSelector(text: string): Readonly<Record<string, string>> | undefined {
  const labelKey = new RegExp(PATTERNS.labelKey.pattern);
  const pairs: [key: string, value: string][] = [];
  for (const part of text.split(',')) {
    const [, key, value] = SELECTED.exec(part.trim()) ?? [];
    if (key === undefined || value === undefined || !labelKey.test(key)) return undefined;
    pairs.push([key, value]);
  }
  const labels = Object.fromEntries(pairs);
  return Object.keys(labels).length === pairs.length ? labels : undefined;
}

/** Writes a label selector, sorted by key. */
export function formatLabelSelector(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',');
}
