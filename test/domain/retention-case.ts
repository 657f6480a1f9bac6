/** A row that expires: how long it is kept. */
import { newId } from '../../src/kernel/ids.ts';
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

export function endedFlood(of: { readonly customerId: string; readonly serverId: string }, at: Date) {
  return {
    ...{ id: newId(at), server_id: of.serverId, customer_id: of.customerId, direction: 'in', family: 4 },
    ...{ samples: 3, peak_packets_per_s: 1, peak_bits_per_s: 1, began_at: at, last_seen_at: at },
    ...{ noticed_at: at, ended_at: at, ending: 'stopped' },
  };
}
