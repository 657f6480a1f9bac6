/** Legal orders as an owner reads them. */
import { formatId, parseId } from '../../../kernel/ids.ts';
import { DAY_MS, formatRfc3339, formatSessionTime } from '../../../kernel/time.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { LEGAL_LIMITS, type LegalOrderKind, type LegalState } from '../../../spec/staff/legal.ts';
import {
  findLegalOrder,
  type LegalOrderRow,
  listActsOfOrder,
  listDueOrders,
  listLegalDocuments,
  listLegalOrders as listRows,
  type NamedLegalOrderRow,
} from '../../../store/staff/legal.ts';
import type { Service } from '../../context.ts';
import { requireCustomer } from '../../customers/operator.ts';
import { orderNotFound } from './fields.ts';

const FINDINGS_SHOWN = 10;

type Deps = Pick<Service, 'db' | 'keys' | 'clock'>;

/** Sealed as JSON. */
export interface LegalDetails {
  readonly authority: string;
  readonly reference: string;
  readonly address: string | null;
  readonly address_at: string | null;
  readonly note: string;
}

export type LegalOrderItem = ReturnType<typeof toItem>;
export type LegalOrder = Awaited<ReturnType<typeof readLegalOrder>>;

export interface LegalOrderQuery {
  readonly state?: LegalState;
  readonly kind?: LegalOrderKind;
  /** An email address or an id. */
  readonly customer?: string;
  /** `lgl_…`: only older orders. */
  readonly before?: string;
  readonly limit: number;
}

/** Newest first, and whether there are more. */
export async function listLegalOrders(
  service: Deps,
  { state, kind, customer, before, limit }: LegalOrderQuery,
): Promise<{ readonly orders: readonly LegalOrderItem[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? undefined : parseId('legalOrder', before);
  if (before !== undefined && beforeId === undefined) return { orders: [], hasMore: false };
  const filter = {
    ...(state && { state }),
    ...(kind && { kind }),
    ...(beforeId && { beforeId }),
    ...(customer && { customerId: (await requireCustomer(service.db, customer)).id }),
  };
  const rows = await listRows(service.db, filter, limit + 1);
  return { orders: rows.slice(0, limit).map((row) => toItem(service, row)), hasMore: rows.length > limit };
}

/** The order with its documents and acts, by its stored id. Fails with `not_found`. */
export async function readLegalOrder(service: Deps, id: string) {
  const { db, keys } = service;
  const row = (await findLegalOrder(db, id)) ?? orderNotFound();
  const shownId = formatId('legalOrder', id);
  const documents = await listLegalDocuments(db, id);
  const acts = await listActsOfOrder(db, shownId, LEGAL_LIMITS.actsShown);
  return {
    ...toItem(service, row),
    documents: documents.map((each) => ({
      object: 'legal_document' as const,
      id: formatId('legalDocument', each.id),
      order: shownId,
      name: keys.open(SEALED.legalDocumentName, each.id, each.name_sealed).toString(),
      type: each.type,
      size_bytes: each.size_bytes,
      created_at: formatRfc3339(each.created_at),
    })),
    /** Of the staff log: those on the order, and those whose reason has its id. */
    acts: acts.map((each) => ({
      id: formatId('staffLog', each.id),
      staff: each.email,
      operation: each.operation,
      target: each.target,
      result: each.result,
      created_at: formatRfc3339(each.created_at),
    })),
  };
}

function toItem(service: Pick<Service, 'keys' | 'clock'>, row: NamedLegalOrderRow) {
  const now = service.clock.now();
  return {
    object: 'legal_order' as const,
    id: formatId('legalOrder', row.id),
    kind: row.kind,
    state: row.state,
    ...openDetails(service, row),
    customer: row.customer_id && formatId('customer', row.customer_id),
    /** Null: there is none, or the account was deleted. */
    customer_email: row.customer_email,
    server: row.server_id && formatId('server', row.server_id),
    server_name: row.server_name,
    received_at: formatRfc3339(row.received_at),
    due_at: row.due_at && formatRfc3339(row.due_at),
    gag_until: row.gag_until && formatRfc3339(row.gag_until),
    /** In force now. */
    gagged: row.gag_until !== null && row.gag_until > now,
    overdue: row.state === 'open' && row.due_at !== null && row.due_at < now,
    data_handed_out: row.data_handed_out,
    created_at: formatRfc3339(row.created_at),
    updated_at: formatRfc3339(row.updated_at),
    closed_at: row.closed_at && formatRfc3339(row.closed_at),
  };
}

export function openDetails({ keys }: Pick<Service, 'keys'>, row: LegalOrderRow): LegalDetails {
  return JSON.parse(keys.open(SEALED.legalOrder, row.id, row.details_sealed).toString());
}

/**
 * Orders that are due soon or overdue, for `status`. Everyone on the staff reads that, so no text of an order
 * is in it.
 */
export async function legalFindings({ db, clock }: Pick<Service, 'db' | 'clock'>) {
  const now = clock.now();
  const soon = new Date(now.getTime() + LEGAL_LIMITS.dueWarningDays * DAY_MS);
  const due = await listDueOrders(db, soon, FINDINGS_SHOWN);
  return due.map(({ id, due_at: at }) => {
    const verb = at < now ? 'was' : 'is';
    return {
      level: at < now ? ('fail' as const) : ('warn' as const),
      subject: 'legal orders',
      message: `${formatId('legalOrder', id)} ${verb} due ${formatSessionTime(at)} UTC`,
    };
  });
}
