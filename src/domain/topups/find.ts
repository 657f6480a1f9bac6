import { notFound } from '../../kernel/fail.ts';
import { findTopupByRef, type TopupRow } from '../../store/topups.ts';
import type { Service } from '../context.ts';

/** The customer's own invoice; an unknown reference and another customer's are alike `not_found`. */
export async function findTopup(
  service: Pick<Service, 'db'>,
  customerId: string,
  orderRef: string,
): Promise<TopupRow> {
  return (await findTopupByRef(service.db, customerId, orderRef)) ?? notFound('topup');
}
