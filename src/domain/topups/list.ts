/** Reads top-ups for the REST API: one by its public id, or a page. */
import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Topup } from '../../spec/schemas/topup.ts';
import { findPaidTopup, pageTopups } from '../../store/topups/topups.ts';
import type { CustomerActor, Service } from '../context.ts';
import { topupObject } from './object.ts';

/** Unknown, malformed, and another customer's ids are all `not_found`. */
export async function getTopup(service: Service, actor: CustomerActor, shownId: string): Promise<Topup> {
  const id = parseId('topup', shownId) ?? notFound('topup');
  const { row, txids } = (await findPaidTopup(service.reads, actor.customerId, id)) ?? notFound('topup');
  return topupObject(row, txids);
}

export async function listTopups(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Topup[]; next: PagePosition | null }> {
  const { rows, next } = await pageTopups(service.db, actor.customerId, page);
  return { items: rows.map(({ row, txids }) => topupObject(row, txids)), next };
}
