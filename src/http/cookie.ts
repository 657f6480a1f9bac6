import type { FastifyReply, FastifyRequest } from 'fastify';
import { isSecure } from './caller.ts';
import type { HttpSettings } from './settings.ts';

const NAME = 'PHPSESSID';

/** The session cookie's value as the caller sent it. */
export function cookieOf(request: FastifyRequest): string | undefined {
  return request.cookies[NAME];
}

/** Hands the cookie out. It ends with the browser; how long the session behind it lives is decided here, not there. */
export function setCookie(settings: HttpSettings, reply: FastifyReply, value: string): void {
  const secure = settings.baseUrl?.startsWith('https:') ?? isSecure(reply.request);
  reply.setCookie(NAME, value, { path: '/', httpOnly: true, sameSite: 'lax', secure });
}
