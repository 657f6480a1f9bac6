/** Every list of the REST surface with rows to fill it, how it is read, and what can be asked of it. */

import { FIREWALL_GROUPS, IMAGES, SERVERS, SSH_KEYS, TOKENS, VOLUMES, WEBHOOKS } from './bounded.ts';
import type { Filter, LongList } from './list.ts';
import { FIRST_AT } from './rows.ts';
import { AUDIT_EVENTS, DELIVERIES, LEDGER, SNAPSHOTS, TOPUPS } from './unbounded.ts';

export const LONG_LISTS: readonly LongList[] = [
  ...[SERVERS, SSH_KEYS, TOKENS, LEDGER, TOPUPS, VOLUMES, SNAPSHOTS, FIREWALL_GROUPS, WEBHOOKS, DELIVERIES],
  // Where lists are emptied one after another, the images of the others go with these.
  ...[AUDIT_EVENTS, IMAGES],
];

/** Every question that is tried on a list of `n` rows: no filter, each value of each, and some together. */
export function filterCombinations(list: LongList, n: number): Filter[] {
  const single = Object.entries(list.filters).flatMap(([name, values]) =>
    values.map((value) => ({ [name]: value })),
  );
  return [{}, ...single, ...(list.combinations ?? [])].map((filter) =>
    Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, resolveTime(value, n)])),
  );
}

/** `@0.5` is the time of the row in the middle; any other value is itself. */
function resolveTime(value: string, n: number): string {
  if (!value.startsWith('@')) return value;
  return new Date(FIRST_AT.getTime() + Math.round(Number(value.slice(1)) * n) * 1_000).toISOString();
}
