import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSecure } from './client-address.ts';
import type { HttpSettings } from './settings.ts';

const SESSION_COOKIE = 'PHPSESSID';

/** The session cookie's value as the caller sent it. */
export function readSessionCookie(request: FastifyRequest): string | undefined {
  return request.cookies[SESSION_COOKIE];
}

/** Hands the cookie out. It ends with the browser; how long the session behind it lives is decided here, not there. */
export function setSessionCookie(settings: HttpSettings, reply: FastifyReply, value: string): void {
  const secure = settings.baseUrl?.startsWith('https:') ?? isSecure(reply.request);
  reply.setCookie(SESSION_COOKIE, value, { path: '/', httpOnly: true, sameSite: 'lax', secure });
}
