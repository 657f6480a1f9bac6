/** GET /csrf.php and /me.php: the visitor's CSRF token, customer, and balance. */
import { Type } from 'typebox';
import { findAccount } from '../../domain/customers/read.ts';
import { computeCsrfToken, newVisitorCookie } from '../../domain/sessions/cookie.ts';
import { centsToUsd } from '../../kernel/money.ts';
import { nullable } from '../../spec/schemas/parts.ts';
import { readSessionCookie, setSessionCookie } from '../cookie.ts';
import type { GetEndpoint } from './pipeline.ts';

/** Sets the cookie and returns its CSRF token, constant for one session. */
export const csrfEndpoint: GetEndpoint = {
  path: '/csrf.php',
  responseSchema: Type.Object({ ok: Type.Boolean(), csrf: Type.String() }),
  run: async ({ edge, request, reply, identity }) => {
    const visitor = identity.visitor ?? newVisitorCookie(edge.service.keys);
    const cookie = identity.session === null ? visitor : readSessionCookie(request);
    setSessionCookie(edge.settings, reply, cookie ?? visitor);
    return { ok: true, csrf: computeCsrfToken(edge.service.keys, visitor) };
  },
};

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
