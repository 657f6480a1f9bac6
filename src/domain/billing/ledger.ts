import { fail } from '../../kernel/fail.ts';
import { readId } from '../../kernel/ids.ts';
import { centsNumber } from '../../kernel/money.ts';
import { rfc3339 } from '../../kernel/time.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { LedgerEntry } from '../../spec/schemas/ledger-entry.ts';
import { findLedgerEntry, type LedgerRow, ledgerOf, pageLedger, sumSpan } from '../../store/ledger.ts';
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

/** One entry. Unknown, malformed and another customer's are alike `not_found`. */
export async function getLedgerEntry(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<LedgerEntry> {
  const id = readId('ledgerEntry', shownId) ?? fail('not_found');
  return entry((await findLedgerEntry(service.db, actor.customerId, id)) ?? fail('not_found'));
}

/** What an invoice alone can fill: a payment has its credit, perhaps a bonus, and their reversals. */
const OF_TOPUP_MAX = 100;

/** What was booked for a top-up, oldest first. */
export async function listTopupEntries(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<LedgerEntry[]> {
  const resourceId = readId('topup', shownId) ?? fail('not_found');
  const rows = await ledgerOf(service.db, actor.customerId, { resourceId, limit: OF_TOPUP_MAX });
  return rows.map(entry);
}

/** The ledger from `from` until just before `to`: what the balance was at both ends, and what came and went. */
export interface Span {
  readonly from: string;
  readonly to: string;
  readonly opening_usd: number;
  readonly closing_usd: number;
  readonly in_usd: number;
  /** Zero or below. */
  readonly out_usd: number;
}

export async function getSpan(
  service: Service,
  actor: CustomerActor,
  span: { readonly from: Date; readonly to: Date },
): Promise<Span> {
  const sums = (await sumSpan(service.db, actor.customerId, span)) ?? fail('not_found');
  return {
    from: rfc3339(span.from),
    to: rfc3339(span.to),
    opening_usd: centsNumber(sums.opening_cents),
    closing_usd: centsNumber(sums.closing_cents),
    in_usd: centsNumber(sums.in_cents),
    out_usd: centsNumber(sums.out_cents),
  };
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
