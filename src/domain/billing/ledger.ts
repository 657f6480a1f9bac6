import { fail } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { LedgerEntry } from '../../spec/schemas/ledger-entry.ts';
import {
  findLedgerEntry,
  type LedgerRow,
  listResourceLedger,
  pageLedger,
} from '../../store/ledger/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';
import { ledgerEntryObject } from '../ledger/object.ts';

/** Returns one page of the customer's ledger. */
export async function listLedger(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: LedgerEntry[]; next: PagePosition | null }> {
  const { rows, next } = await pageLedger(service.db, actor.customerId, page);
  return { items: rows.map(toLedgerEntry), next };
}

/** Returns one entry. Unknown, malformed, and another customer's ids are all `not_found`. */
export async function getLedgerEntry(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<LedgerEntry> {
  const id = parseId('ledgerEntry', shownId) ?? fail('not_found');
  return toLedgerEntry((await findLedgerEntry(service.db, actor.customerId, id)) ?? fail('not_found'));
}

/** Far more than one invoice produces: a payment has its credit, possibly a bonus, and their reversals. */
const TOPUP_ENTRIES_MAX = 100;

/** Returns the entries of a top-up, oldest first. */
export async function listTopupEntries(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<LedgerEntry[]> {
  const resourceId = parseId('topup', shownId) ?? fail('not_found');
  const rows = await listResourceLedger(service.db, actor.customerId, {
    resourceId,
    limit: TOPUP_ENTRIES_MAX,
  });
  return rows.map(toLedgerEntry);
}

function toLedgerEntry(row: LedgerRow): LedgerEntry {
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
