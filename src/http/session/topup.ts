/**
 * POST /topup-api.php: creates an invoice with a deposit address, and cancels it before a payment arrives.
 */

import { createTopup } from '../../domain/topups/create.ts';
import { cancelTopup } from '../../domain/topups/end.ts';
import { parseTopupAmount } from '../../domain/topups/offer.ts';
import { fail } from '../../kernel/fail.ts';
import { isCoinCode } from '../../spec/coins.ts';
import type { Operation, PostEndpoint } from '../endpoint.ts';
import { field } from '../form.ts';
import { respondOnce } from './idempotent.ts';

const createTopupOperation: Operation = {
  audit: 'topup.create',
  rest: 'topups.create',
  run: async (call) => {
    const { edge, form } = call;
    return await respondOnce(call, async (keep) => {
      const amountCents = parseTopupAmount(field(form, 'amount'));
      const coin = field(form, 'coin');
      if (!isCoinCode(coin)) fail('bad_coin');
      const topup = await createTopup(
        edge.service,
        call.customer(),
        { coin, amountCents },
        { beforeCommit: (tx, made) => keep(tx, toResponse(made)) },
      );
      return toResponse(topup);
    });
  },
};

function toResponse(created: { readonly order_ref: string; readonly public_no: bigint }): object {
  return { ok: true, order_ref: created.order_ref, payment_id: Number(created.public_no) };
}

const cancelTopupOperation: Operation = {
  audit: 'topup.cancel',
  run: async (call) => {
    const { edge, form } = call;
    const response = { ok: true };
    return await respondOnce(call, async (keep) => {
      const saveResponse = (tx: Parameters<typeof keep>[0]) => keep(tx, response);
      await cancelTopup(edge.service, call.customer(), field(form, 'order_ref'), {
        beforeCommit: saveResponse,
      });
      return response;
    });
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
