import type { CreateTopup, Topup } from '../../spec/schemas/topup.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { parseTopupAmount } from './amount.ts';
import { createTopup } from './create.ts';
import { topupObject } from './object.ts';

/**
 * Creates an invoice for the REST API. Fails like `createTopup`, and with `bad_amount` for fractions of a
 * cent. A number is read as printed, so that 30.10 is exactly 30.10.
 */
export async function orderTopup(
  service: Service,
  actor: CustomerActor,
  order: CreateTopup,
  saveResponse?: SaveResponse,
): Promise<Topup> {
  const amountCents = parseTopupAmount(String(order.amount_usd));
  const row = await createTopup(
    service,
    actor,
    { coin: order.coin, amountCents },
    { beforeCommit: async (tx, created) => await saveResponse?.(tx, topupObject(created, [])) },
  );
  return topupObject(row, []);
}
