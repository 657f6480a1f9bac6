import type { FastifyReply, FastifyRequest } from 'fastify';
import { isServedSecurely } from './client-address.ts';
import type { HttpSettings } from './settings.ts';

const SESSION_COOKIE = 'PHPSESSID';

/** Reads the session cookie as the client sent it. */
export function readSessionCookie(request: FastifyRequest): string | undefined {
  return request.cookies[SESSION_COOKIE];
}

/**
 * Sets a cookie that lasts until the browser closes. The session's own lifetime is enforced on the server.
 */
export function setSessionCookie(settings: HttpSettings, reply: FastifyReply, value: string): void {
  const secure = isServedSecurely(settings, reply.request);
  reply.setCookie(SESSION_COOKIE, value, { path: '/', httpOnly: true, sameSite: 'lax', secure });
}
