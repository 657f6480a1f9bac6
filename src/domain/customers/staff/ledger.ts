/** The ledger of a customer as staff read it. */
import { parseId } from '../../../kernel/ids.ts';
import type { LedgerEntry } from '../../../spec/schemas/balance.ts';
import { listOperatorLedger } from '../../../store/ledger/ledger.ts';
import { toLedgerEntry } from '../../billing/ledger.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../operator.ts';

export interface LedgerQuery {
  /** `led_…`: only entries that were booked earlier. */
  readonly before?: string;
  readonly limit: number;
}

/** The entries as the customer sees them, latest booking first, and whether there are more. */
export async function readLedgerForOperator(
  { db }: Pick<Service, 'db'>,
  name: string,
  { before, limit }: LedgerQuery,
): Promise<{ readonly entries: readonly LedgerEntry[]; readonly hasMore: boolean }> {
  const { id } = await requireCustomer(db, name);
  const beforeId = before ? parseId('ledgerEntry', before) : null;
  if (beforeId === undefined) return { entries: [], hasMore: false };
  const rows = await listOperatorLedger(db, id, { beforeId, limit: limit + 1 });
  return { entries: rows.slice(0, limit).map(toLedgerEntry), hasMore: rows.length > limit };
}
