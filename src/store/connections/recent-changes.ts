/**
 * The recent changes of a person, which a replica must have before the person reads from it. Each change
 * commits its row of the audit log with it, or completes its entry of the staff log afterward. So a replica
 * with all these rows has all these changes, of every process.
 */
import type { Sql } from '../../kernel/sql.ts';

export type Writer = { readonly customerId: string } | { readonly staffId: string };

/** A row is dated when its request began. Longer than a request, with its waits and clocks that differ. */
const REQUEST_MS = 60_000;

/** So many rows of the staff log are read. With more, the replica could lack one and count as many. */
const COUNTED_MAX = 100;

/** Null: too many to be compared. */
export async function countCompletedChanges(
  sql: Sql,
  writer: Writer,
  { now, maxLagMs }: { readonly now: Date; readonly maxLagMs: number },
): Promise<bigint | null> {
  const since = new Date(now.getTime() - maxLagMs - REQUEST_MS);
  const row =
    'customerId' in writer
      ? await sql.row<Count>(OF_CUSTOMER, [writer.customerId, since])
      : await sql.row<Count>(OF_STAFF, [writer.staffId, since, COUNTED_MAX]);
  return row?.too_many ? null : (row?.n ?? 0n);
}

interface Count {
  readonly n: bigint;
  readonly too_many: boolean;
}

const OF_CUSTOMER = `select count(*) as n, false as too_many
  from audit_events where customer_id = $1 and created_at >= $2`;
/** Ids begin with their time. */
const OF_STAFF = `select count(*) filter (where result <> 'started') as n, count(*) >= $3 as too_many
  from (select result, created_at from staff_log where staff_id = $1 order by id desc limit $3) l
  where created_at >= $2`;
