/** GET /topup-status.php?ref=…: how far a payment has come, for its owner. */
import { Type } from 'typebox';
import { findTopup } from '../../domain/topups/find.ts';
import { fail } from '../../kernel/fail.ts';
import { formatUnits } from '../../kernel/money.ts';
import { sessionTime } from '../../kernel/time.ts';
import { coin } from '../../spec/coins.ts';
import { sessionTopupStatus } from '../../spec/states.ts';
import type { GetEndpoint } from '../endpoint.ts';
import { field, queryOf } from '../form.ts';

export const topupStatus: GetEndpoint = {
  path: '/topup-status.php',
  answer: Type.Object({
    ok: Type.Boolean(),
    status: Type.String(),
    deposit_address: Type.String(),
    /** A decimal of whole coins. */
    deposit_amount: Type.String(),
    expires_at: Type.String(),
  }),
  run: async ({ edge, request, identity }) => {
    const { customerId } = identity.session ?? fail('auth_required');
    const ref =
      field(queryOf(request.url), 'ref') || fail('bad_request', { field: 'ref' }, 'ref is missing.');
    const topup = await findTopup(edge.service, customerId, ref);
    return {
      ok: true,
      status: sessionTopupStatus({
        status: topup.status,
        cancelled: topup.cancelled_at !== null,
        held: topup.credit_held,
      }),
      deposit_address: topup.deposit_address,
      deposit_amount: formatUnits(topup.deposit_units, coin(topup.coin).decimals),
      expires_at: sessionTime(topup.expires_at),
    };
  },
};
