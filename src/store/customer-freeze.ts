import type { Sql } from '../kernel/sql.ts';

/** Sets when the customer was frozen; null unfreezes. Returns false when nothing changes. */
export async function setCustomerFrozen(
  tx: Sql,
  customerId: string,
  frozenAt: Date | null,
): Promise<boolean> {
  const changed = await tx.run(
    'update customers set frozen_at = $2 where id = $1 and (frozen_at is null) <> ($2::timestamptz is null)',
    [customerId, frozenAt],
  );
  return changed === 1;
}
