/** A row that expires: how long it is kept. */
import { DAY_MS } from '../../src/kernel/time.ts';

/** Identifies an inserted row. */
export interface InsertedRow {
  readonly table: string;
  readonly where: string;
}

/** Inserts a row with time `at`; the ages of a kept and of a deleted row. */
export interface RetentionCase {
  readonly insert: (at: Date) => Promise<InsertedRow>;
  readonly keptMs: number;
  readonly goneMs: number;
}

/** Rows that are kept for this long, to the millisecond. */
export function keptForDays(days: number, insert: RetentionCase['insert']): RetentionCase {
  return { insert, keptMs: days * DAY_MS, goneMs: days * DAY_MS + 1 };
}

/** The row has the time of its own end. */
export function untilExpiry(insert: RetentionCase['insert']): RetentionCase {
  return { insert, keptMs: -1, goneMs: 1 };
}
