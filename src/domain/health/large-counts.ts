/**
 * Counts of large tables, remembered for a minute. Counting hundreds of thousands of rows takes longer than
 * the rest of the page that shows them. Small counts are always exact.
 */
import type { Service } from '../context.ts';

/** Counts of more rows than this are remembered. */
const LARGE = 50_000n;
const REMEMBERED_MS = 60_000;

interface Remembered {
  readonly rows: readonly unknown[];
  readonly untilMs: number;
}

const remembered = new WeakMap<Service['db'], Map<string, Remembered>>();

/** Counts rows in groups, or returns what `count` returned less than a minute ago. */
export async function countLarge<Row>(
  db: Service['db'],
  name: string,
  count: () => Promise<readonly Row[]>,
  sizeOf: (row: Row) => bigint,
): Promise<readonly Row[]> {
  const counts = remembered.get(db) ?? new Map<string, Remembered>();
  remembered.set(db, counts);
  const known = counts.get(name);
  if (known && performance.now() < known.untilMs) return known.rows as readonly Row[];
  const rows = await count();
  const size = rows.reduce((sum, row) => sum + sizeOf(row), 0n);
  if (size > LARGE) counts.set(name, { rows, untilMs: performance.now() + REMEMBERED_MS });
  return rows;
}
