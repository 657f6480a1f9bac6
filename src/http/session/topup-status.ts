/** GET /topup-status.php?ref=…: the progress of a payment, for its owner. */
import { Type } from 'typebox';
import { findTopup, topupView } from '../../domain/topups/read.ts';
import { fail } from '../../kernel/fail.ts';
import { field, parseQuery } from '../form.ts';
import type { GetEndpoint } from './pipeline.ts';

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
    const ref =
      field(parseQuery(request.url), 'ref') || fail('bad_request', { field: 'ref' }, 'ref is required.');
    const topup = await findTopup(edge.service, customerId, ref);
    return { ok: true, ...topupView(topup) };
  },
};
