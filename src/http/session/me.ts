/** GET /me.php: the signed-in customer and the balance. */
import { Type } from 'typebox';
import { findAccount } from '../../domain/customers/read.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { nullable } from '../../spec/schemas/parts.ts';
import type { GetEndpoint } from './pipeline.ts';

export const meEndpoint: GetEndpoint = {
  path: '/me.php',
  responseSchema: Type.Object({
    ok: Type.Boolean(),
    logged_in: Type.Boolean(),
    email: nullable(Type.String()),
    /** US dollars. */
    balance: nullable(Type.Number()),
    id: nullable(Type.Integer()),
  }),
  run: async ({ edge, identity }) => {
    const account = identity.session && (await findAccount(edge.service, identity.session.customerId));
    if (!account) return { ok: true, logged_in: false, email: null, balance: null, id: null };
    return {
      ok: true,
      logged_in: true,
      email: account.email,
      balance: centsToUsd(account.balanceCents),
      id: Number(account.publicNo),
    };
  },
};
