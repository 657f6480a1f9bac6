/**
 * POST /topup-api.php: creates an invoice with a deposit address, and cancels it before a payment arrives.
 */
import type { CustomerActor } from '../../domain/context.ts';
import { createTopup } from '../../domain/topups/create.ts';
import { cancelTopup } from '../../domain/topups/end.ts';
import { parseTopupAmount } from '../../domain/topups/offer.ts';
import { fail } from '../../kernel/fail.ts';
import { isCoinCode } from '../../spec/coins.ts';
import type { Operation, PostEndpoint } from '../admission/forms.ts';
import { field } from '../form.ts';
import { respondOnce } from './pipeline.ts';

const createTopupOperation: Operation = {
  audit: 'topup.create',
  rest: 'topups.create',
  run: async (call) => {
    const { edge, form } = call;
    const create = async (actor: CustomerActor) => {
      const amountCents = parseTopupAmount(field(form, 'amount'));
      const coin = field(form, 'coin');
      if (!isCoinCode(coin)) fail('bad_coin');
      return await createTopup(edge.service, actor, { coin, amountCents });
    };
    return await respondOnce(call, create, toResponse);
  },
};

function toResponse(created: { readonly order_ref: string; readonly public_no: bigint }): object {
  return { ok: true, order_ref: created.order_ref, payment_id: Number(created.public_no) };
}

const cancelTopupOperation: Operation = {
  audit: 'topup.cancel',
  run: (call) => {
    const ref = field(call.form, 'order_ref');
    return respondOnce(
      call,
      (actor) => cancelTopup(call.edge.service, actor, ref),
      () => ({ ok: true }),
    );
  },
};

export const topup: PostEndpoint = {
  path: '/topup-api.php',
  protected: true,
  operations: new Map([
    ['create', createTopupOperation],
    ['cancel', cancelTopupOperation],
  ]),
};
