/** POST /topup-api.php: an invoice with an address to pay to, and taking it back while nothing was paid. */
import { parseTopupAmount } from '../../domain/topups/amount.ts';
import { cancelTopup } from '../../domain/topups/cancel.ts';
import { createTopup } from '../../domain/topups/create.ts';
import { fail } from '../../kernel/fail.ts';
import { isCoinCode } from '../../spec/coins.ts';
import type { Operation, PostEndpoint } from '../endpoint.ts';
import { field } from '../form.ts';
import { answerOnce } from './once.ts';

const create: Operation = {
  audit: 'topup.create',
  rest: 'topups.create',
  run: async (call) => {
    const { edge, form } = call;
    return await answerOnce(call, async (keep) => {
      const amountCents = parseTopupAmount(field(form, 'amount'));
      const coin = field(form, 'coin');
      if (!isCoinCode(coin)) fail('bad_coin');
      const topup = await createTopup(
        edge.service,
        call.customer(),
        { coin, amountCents },
        { within: (tx, made) => keep(tx, answer(made)) },
      );
      return answer(topup);
    });
  },
};

function answer(topup: { readonly order_ref: string; readonly public_no: bigint }): object {
  return { ok: true, order_ref: topup.order_ref, payment_id: Number(topup.public_no) };
}

const cancel: Operation = {
  audit: 'topup.cancel',
  run: async (call) => {
    const { edge, form } = call;
    const cancelled = { ok: true };
    return await answerOnce(call, async (keep) => {
      const within = (tx: Parameters<typeof keep>[0]) => keep(tx, cancelled);
      await cancelTopup(edge.service, call.customer(), field(form, 'order_ref'), { within });
      return cancelled;
    });
  },
};

export const topup: PostEndpoint = {
  path: '/topup-api.php',
  protected: true,
  operations: new Map([
    ['create', create],
    ['cancel', cancel],
  ]),
};
