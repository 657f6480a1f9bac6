import { notFound } from '../../kernel/fail.ts';
import { findTopupByRef, type TopupRow } from '../../store/topups/topups.ts';
import type { Service } from '../context.ts';

/** Returns the customer's own invoice. Unknown references and other customers' are both `not_found`. */
export async function findTopup(
  service: Pick<Service, 'db'>,
  customerId: string,
  orderRef: string,
): Promise<TopupRow> {
  return (await findTopupByRef(service.db, customerId, orderRef)) ?? notFound('topup');
}
