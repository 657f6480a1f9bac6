/**
 * Drafts of orders: the fields of the order form, kept while their customer tops up. They are sealed, because
 * user data may have secrets. The caller leaves out passwords.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { fail, notFound } from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import { DAY_MS, formatRfc3339 } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import {
  deleteOrderDraft,
  findOrderDraft as findRow,
  listOrderDrafts as listRows,
  type OrderDraftRow,
  trimOrderDrafts,
  upsertOrderDraft,
} from '../../../store/customers/order-drafts.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';

export interface OrderDraft {
  readonly id: string;
  /** The fields of the form. */
  readonly fields: ReadonlyMap<string, string>;
  readonly expires_at: string;
}

/**
 * Keeps an order for its customer, and returns the draft's id. `draftId` replaces a draft. The oldest one
 * makes room for a new one.
 */
export async function saveOrderDraft(
  service: Service,
  actor: CustomerActor,
  fields: Iterable<readonly [string, string]>,
  draftId = '',
): Promise<string> {
  const packed = deflateRawSync(JSON.stringify([...fields]));
  const { customerId } = actor;
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    (await lockCustomer(tx, customerId)) ?? fail('auth_required');
    const known = parseId('orderDraft', draftId);
    const replaced = known === undefined ? undefined : await findRow(tx, customerId, { id: known, now });
    const id = replaced?.id ?? newId(now);
    await upsertOrderDraft(tx, {
      id,
      customer_id: customerId,
      draft_sealed: service.keys.seal(SEALED.orderDraft, id, packed),
      created_at: now,
      expires_at: new Date(now.getTime() + LIMITS.orderDraftDays * DAY_MS),
    });
    await trimOrderDrafts(tx, customerId, LIMITS.orderDraftsMax);
    const shownId = formatId('orderDraft', id);
    await recordAudit(tx, { actor, action: 'order_draft.save', resource: shownId }, now);
    return shownId;
  });
}

/** Lists the drafts that are kept, newest first. */
export async function listOrderDrafts(service: Service, actor: CustomerActor): Promise<OrderDraft[]> {
  const rows = await listRows(service.db, actor.customerId, service.clock.now());
  return rows.flatMap((row) => openDraft(service, row) ?? []);
}

/** Returns null if there is no such draft, or no longer. */
export async function findOrderDraft(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<OrderDraft | null> {
  const id = parseId('orderDraft', shownId);
  if (id === undefined) return null;
  const row = await findRow(service.db, actor.customerId, { id, now: service.clock.now() });
  return row ? openDraft(service, row) : null;
}

/** Fails with `not_found`. */
export async function discardOrderDraft(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<void> {
  const id = parseId('orderDraft', shownId) ?? notFound('orderDraft');
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await deleteOrderDraft(tx, actor.customerId, id))) notFound('orderDraft');
    await recordAudit(tx, { actor, action: 'order_draft.discard', resource: shownId }, now);
    await actor.saveResponse?.(tx, {});
  });
}

/** Null: sealed with a key that was rotated out. The order then starts empty. */
function openDraft({ keys }: Pick<Service, 'keys'>, row: OrderDraftRow): OrderDraft | null {
  try {
    const packed = keys.open(SEALED.orderDraft, row.id, row.draft_sealed);
    const text = inflateRawSync(packed, { maxOutputLength: LIMITS.orderDraftMaxBytes }).toString();
    const fields = new Map(JSON.parse(text) as [string, string][]);
    return { id: formatId('orderDraft', row.id), fields, expires_at: formatRfc3339(row.expires_at) };
  } catch {
    return null;
  }
}
