/** Refunds a server that never ran. */
import type { Sql } from '../../kernel/sql.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import { credit } from '../ledger/transfer.ts';

/**
 * Refunds the first cycle of a server that never ran. A second call has no effect, because `fact` makes the
 * transfer unique. `reason` completes the description `s1 in par …`.
 */
export async function refundFirstCycle(tx: Sql, server: ServerRow, reason: string, now: Date): Promise<void> {
  await credit(
    tx,
    {
      customerId: server.customer_id,
      account: 'revenue',
      amountCents: server.price_cents_cycle,
      type: 'refund',
      resource: { kind: 'server', id: server.id },
      description: `${server.plan_id} in ${server.region_id} ${reason}`,
      fact: `refund:${server.id}:1`,
    },
    now,
  );
}
