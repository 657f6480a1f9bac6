/** Top-ups: POST /topup-api.php creates and cancels them, GET /topup-status.php shows the progress of one. */

import { Type } from 'typebox';
import type { CustomerActor } from '../../domain/context.ts';
import { createTopup } from '../../domain/topups/create.ts';
import { cancelTopup } from '../../domain/topups/end.ts';
import { parseTopupAmount } from '../../domain/topups/offer.ts';
import { findTopup, topupView } from '../../domain/topups/read.ts';
import { fail } from '../../kernel/fail.ts';
import { isCoinCode } from '../../spec/coins.ts';
import type { Operation, PostEndpoint } from '../admission/forms.ts';
import { field, lookupField, parseQuery } from '../form.ts';
import { type GetEndpoint, respondOnce } from './pipeline.ts';

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
    const ref = lookupField(call.form, 'order_ref');
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

/** `?ref=…` names the top-up. Only its owner sees it. */
export const topupStatusEndpoint: GetEndpoint = {
  path: '/topup-status.php',
  responseSchema: Type.Object({
    ok: Type.Boolean(),
    status: Type.String(),
    deposit_address: Type.String(),
    /** A decimal in whole coins. */
    deposit_amount: Type.String(),
    expires_at: Type.String(),
  }),
  run: async ({ edge, request, identity }) => {
    const { customerId } = identity.session ?? fail('auth_required');
    const query = parseQuery(request.url, { allowNul: true });
    if (field(query, 'ref') === '') fail('bad_request', { field: 'ref' }, 'ref is required.');
    const topup = await findTopup(edge.service, customerId, lookupField(query, 'ref'));
    return { ok: true, ...topupView(topup) };
  },
};
