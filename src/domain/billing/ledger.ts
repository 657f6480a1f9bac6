/** The customer's balance and ledger. */
import { fail } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { centsToUsd, mulDiv } from '../../kernel/money.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS, formatRfc3339 } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Balance, LedgerEntry } from '../../spec/schemas/balance.ts';
import {
  findLedgerEntry,
  type LedgerRow,
  listResourceLedger,
  listServerNames,
  pageLedger,
  readBalanceSummary,
} from '../../store/ledger/ledger.ts';
import type { CustomerActor, Service } from '../context.ts';
import { ledgerEntryObject } from '../ledger/object.ts';

export async function getBalance(service: Service, actor: CustomerActor): Promise<Balance> {
  return await balanceObject(service.reads, actor.customerId, service.clock.now());
}

/** Returns one page of the customer's ledger. */
export async function listLedger(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<Page<LedgerEntry>> {
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

export function toLedgerEntry(row: LedgerRow): LedgerEntry {
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

/** Returns server names by shown id. Ids that are deleted or not servers are left out. */
export async function findServerNames(
  service: Service,
  actor: CustomerActor,
  shownIds: Iterable<string | null>,
): Promise<ReadonlyMap<string, string>> {
  const stored = [...new Set(shownIds)].flatMap((id) => (id !== null && parseId('server', id)) || []);
  if (stored.length === 0) return new Map();
  const rows = await listServerNames(service.db, actor.customerId, stored);
  return new Map(rows.map(({ id, name }) => [formatId('server', id), name]));
}

const MONTHS_PER_YEAR = 12n;
const DAYS_PER_YEAR = 365n;

/** Returns the customer's balance in the REST shape. */
export async function balanceObject(sql: Sql, customerId: string, now: Date): Promise<Balance> {
  const facts = await readBalanceSummary(sql, customerId);
  if (!facts) throw new Error('the customer has no balance row');
  const { balance_cents, running, first_end, cents_month } = facts;
  return {
    object: 'balance',
    usd: centsToUsd(balance_cents),
    as_of: formatRfc3339(now),
    runway_until: first_end === null ? null : first_end.toISOString().slice(0, 10),
    active_servers: Number(running),
    daily_cost_usd: centsToUsd(mulDiv(cents_month, MONTHS_PER_YEAR, DAYS_PER_YEAR, 'half_up')),
    low_balance_at:
      first_end && formatRfc3339(new Date(first_end.getTime() - LIMITS.lowBalanceDays * DAY_MS)),
  };
}
