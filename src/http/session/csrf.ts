/** GET /csrf.php: the cookie and its CSRF token, constant for one session. */
import { Type } from 'typebox';
import { computeCsrfToken, newVisitorCookie } from '../../domain/sessions/cookie.ts';
import { readSessionCookie, setSessionCookie } from '../cookie.ts';
import type { GetEndpoint } from './pipeline.ts';

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
