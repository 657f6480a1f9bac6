/**
 * The recent changes of a person, which a replica must have before the person reads from it. Each change
 * commits its row of the audit log with it, or completes its entry of the staff log afterward. So a replica
 * with all these rows has all these changes, of every process.
 */
import type { Sql } from '../../kernel/sql.ts';

export type Writer = { readonly customerId: string } | { readonly staffId: string };

/** A row is dated when its request began. Longer than a request, with its waits and clocks that differ. */
const REQUEST_MS = 60_000;

export async function countCompletedChanges(
  sql: Sql,
  writer: Writer,
  { now, maxLagMs }: { readonly now: Date; readonly maxLagMs: number },
): Promise<bigint> {
  const since = new Date(now.getTime() - maxLagMs - REQUEST_MS);
  const row =
    'customerId' in writer
      ? await sql.row<{ n: bigint }>(OF_CUSTOMER, [writer.customerId, since])
      : await sql.row<{ n: bigint }>(OF_STAFF, [writer.staffId, since]);
  return row?.n ?? 0n;
}

const OF_CUSTOMER = 'select count(*) as n from audit_events where customer_id = $1 and created_at >= $2';
/** Ids begin with their time. */
const OF_STAFF = `select count(*) as n from (select result, created_at from staff_log
  where staff_id = $1 order by id desc limit 100) l where created_at >= $2 and result <> 'started'`;
