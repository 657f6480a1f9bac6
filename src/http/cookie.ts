import type { FastifyReply, FastifyRequest } from 'fastify';
import { newDeviceCookie } from '../domain/sessions/device.ts';
import { isServedSecurely } from './client-address.ts';
import { type Form, field } from './form.ts';
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

interface SignInCall {
  readonly edge: Edge;
  readonly reply: FastifyReply;
  readonly form: Form;
}

const DEVICE_COOKIE = 'skerry_device';
/** Each sign-in renews it. */
const DEVICE_MAX_AGE_S = 180 * 86_400;

export function readDeviceCookie(request: FastifyRequest): string | undefined {
  return request.cookies[DEVICE_COOKIE];
}

/**
 * Lets this browser sign in to the account of the form's address during a flood of guesses, also after its
 * session. Only the panel sets it: clients of the session surface may know no cookie but the session's.
 */
export function rememberDevice({ edge, reply, form }: SignInCall): void {
  if (edge.settings.signinFailuresPerHour === 0) return;
  const value = newDeviceCookie(edge.service.keys, field(form, 'email'));
  if (value === undefined) return;
  const secure = isServedSecurely(edge.settings, reply.request);
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure, maxAge: DEVICE_MAX_AGE_S } as const;
  reply.setCookie(DEVICE_COOKIE, value, options);
}
