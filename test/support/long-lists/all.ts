/** Every list of the REST API, with fixtures to fill it, the function that reads it, and its filters. */

import { ALERTS, FIREWALL_GROUPS, IMAGES, SERVERS, SSH_KEYS, TOKENS, VOLUMES, WEBHOOKS } from './bounded.ts';
import type { Filter, LongList } from './list.ts';
import { FIRST_AT } from './rows.ts';
import {
  ACTIONS,
  AUDIT_EVENTS,
  DELIVERIES,
  LEDGER,
  SERVER_ACTIONS,
  SNAPSHOTS,
  TICKETS,
  TOPUPS,
} from './unbounded.ts';

export const LONG_LISTS: readonly LongList[] = [
  ...[SERVERS, SSH_KEYS, TOKENS, LEDGER, TOPUPS, VOLUMES, SNAPSHOTS, FIREWALL_GROUPS, WEBHOOKS, DELIVERIES],
  // Tests that empty one list after another also delete the images of the others, so images come last.
  ...[ACTIONS, SERVER_ACTIONS, ALERTS, TICKETS, AUDIT_EVENTS, IMAGES],
];

/**
 * Returns every filter to try on a list of `n` rows: none, each value of each filter, and some combinations.
 */
export function filterCombinations(list: LongList, n: number): Filter[] {
  const single = Object.entries(list.filters).flatMap(([name, values]) =>
    values.map((value) => ({ [name]: value })),
  );
  return [{}, ...single, ...(list.combinations ?? [])].map((filter) =>
    Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, resolveTime(value, n)])),
  );
}

/** Resolves `@0.5` to the time of the middle row. Other values stay unchanged. */
function resolveTime(value: string, n: number): string {
  if (!value.startsWith('@')) return value;
  return new Date(FIRST_AT.getTime() + Math.round(Number(value.slice(1)) * n) * 1_000).toISOString();
}
