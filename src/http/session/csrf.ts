/** GET /csrf.php: the cookie and the CSRF value that belongs to it, the same for one session. */
import { Type } from 'typebox';
import { csrfValue, newVisitor } from '../../domain/sessions/cookie.ts';
import { cookieOf, setCookie } from '../cookie.ts';
import type { GetEndpoint } from '../endpoint.ts';

export const csrf: GetEndpoint = {
  path: '/csrf.php',
  answer: Type.Object({ ok: Type.Boolean(), csrf: Type.String() }),
  run: async ({ edge, request, reply, identity }) => {
    const visitor = identity.visitor ?? newVisitor(edge.service.keys);
    const cookie = identity.session === null ? visitor : cookieOf(request);
    setCookie(edge.settings, reply, cookie ?? visitor);
    return { ok: true, csrf: csrfValue(edge.service.keys, visitor) };
  },
};
