import type { FastifyReply, FastifyRequest } from 'fastify';
import { newDeviceCookie } from '../domain/sessions/device.ts';
import { isServedSecurely } from './client-address.ts';
import type { Edge, HttpSettings } from './settings.ts';

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

const DEVICE_COOKIE = 'skerry_device';
/** Each sign-in renews it. */
const DEVICE_MAX_AGE_S = 180 * 86_400;

export function readDeviceCookie(request: FastifyRequest): string | undefined {
  return request.cookies[DEVICE_COOKIE];
}

/**
 * Lets this browser sign in to the account of this session during a flood of guesses, also after the session.
 * Only for browsers: other clients of the session surface may know no cookie but the session's.
 */
export async function rememberDevice(
  { edge, reply }: { readonly edge: Edge; readonly reply: FastifyReply },
  sessionCookie: string | undefined,
): Promise<void> {
  if (edge.settings.signinFailuresPerHour === 0) return;
  const value = await newDeviceCookie(edge.service, sessionCookie);
  if (value === undefined) return;
  const secure = isServedSecurely(edge.settings, reply.request);
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge: DEVICE_MAX_AGE_S } as const;
  reply.setCookie(DEVICE_COOKIE, value, options);
}
