/** Whether a POST comes from one of our own pages, or from a client that fetched its value from us. */
import type { IncomingHttpHeaders } from 'node:http';
import { computeCsrfToken } from '../domain/sessions/cookie.ts';
import { Failure } from '../kernel/fail.ts';
import type { KeyRing } from '../kernel/secrets.ts';
import { timingSafeEqualText } from '../kernel/secrets.ts';
import { type FormBody, field } from './form.ts';

/** The value given, in the field `_token` or the header X-CSRF-Token; undefined when there is none. */
export function submittedCsrfToken(headers: IncomingHttpHeaders, body: FormBody): string | undefined {
  const fromForm = body instanceof Failure ? '' : field(body, '_token');
  const header = headers['x-csrf-token'];
  return fromForm || (typeof header === 'string' && header) || undefined;
}

/** Whether the value is this visitor's. Nobody without a cookie of ours has one. */
export function isValidCsrfToken(keys: KeyRing, visitor: string | null, token: string | undefined): boolean {
  return (
    visitor !== null && token !== undefined && timingSafeEqualText(token, computeCsrfToken(keys, visitor))
  );
}

/**
 * Whether the browser says that another site's page sent this. Plain clients send no Origin; `null` says nothing
 * (a page without referrer sends it for its own forms), so there the value alone decides.
 */
export function isCrossSite(headers: IncomingHttpHeaders, baseUrl: string | null): boolean {
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return false;
  const originHost = hostOf(origin);
  if (originHost === undefined) return true;
  const ownHost = hostOf(baseUrl ?? '');
  // Our own host by the other scheme is somebody between us and the visitor.
  if (originHost === ownHost) return new URL(origin).protocol !== new URL(baseUrl ?? origin).protocol;
  return originHost !== hostOf(`http://${headers.host ?? ''}`);
}

/** Host and port in lower case; the default ports of both schemes are left out, as browsers do. */
function hostOf(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.host.replace(/:(?:80|443)$/, '') || undefined;
}
