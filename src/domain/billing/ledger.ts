import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { LedgerEntry } from '../../spec/schemas/ledger-entry.ts';
import { type LedgerRow, pageLedger } from '../../store/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';
import { ledgerEntryObject } from '../ledger/object.ts';

/** One page of what was booked on the customer's balance. */
export async function listLedger(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: LedgerEntry[]; next: PagePosition | null }> {
  const { rows, next } = await pageLedger(service.db, actor.customerId, page);
  return { items: rows.map(entry), next };
}

function entry(row: LedgerRow): LedgerEntry {
  const { resource_kind: kind, resource_id: id } = row;
  return ledgerEntryObject({
    id: row.id,
    type: row.type,
    amountCents: row.amount_cents,
    balanceAfterCents: row.balance_after_cents,
    resource: kind !== null && id !== null ? { kind, id } : null,
    description: row.description,
    createdAt: row.created_at,
  });
}
