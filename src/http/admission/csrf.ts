/** Checks that a POST comes from one of our pages, or from a client that fetched its token from us. */
import type { IncomingHttpHeaders } from 'node:http';
import { computeCsrfToken } from '../../domain/sessions/cookie.ts';
import { Failure } from '../../kernel/fail.ts';
import { type KeyRing, timingSafeEqualText } from '../../kernel/secrets.ts';
import { type FormBody, field } from '../form.ts';

/** Returns the token from the field `_token` or the header X-CSRF-Token, or undefined. */
export function submittedCsrfToken(headers: IncomingHttpHeaders, body: FormBody): string | undefined {
  const fromForm = body instanceof Failure ? '' : field(body, '_token');
  const header = headers['x-csrf-token'];
  return fromForm || (typeof header === 'string' && header) || undefined;
}

/** Whether the token belongs to this visitor. A visitor without our cookie has none. */
export function isValidCsrfToken(keys: KeyRing, visitor: string | null, token: string | undefined): boolean {
  return (
    visitor !== null && token !== undefined && timingSafeEqualText(token, computeCsrfToken(keys, visitor))
  );
}

/**
 * Whether the browser reports that another site's page sent this request. Plain clients send no Origin.
 * `null` proves nothing, because a page without a referrer sends it for its own forms, so there the token
 * alone decides.
 */
export function isCrossSite(headers: IncomingHttpHeaders, baseUrl: string | null): boolean {
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return false;
  const originHost = hostOf(origin);
  if (originHost === undefined) return true;
  const ownHost = hostOf(baseUrl ?? '');
  // Our own host under the other scheme means an intermediary between us and the visitor.
  if (originHost === ownHost) return new URL(origin).protocol !== new URL(baseUrl ?? origin).protocol;
  return originHost !== hostOf(`http://${headers.host ?? ''}`);
}

/**
 * Whether the browser says that a page other than ours sent this form. `Sec-Fetch-Site` says it even where a
 * page hides its origin, and with it, `Origin: null` is not one of our own forms. `none` is the address bar.
 */
export function isForeignForm(headers: IncomingHttpHeaders, baseUrl: string | null): boolean {
  const site = headers['sec-fetch-site'];
  if (site === undefined) return isCrossSite(headers, baseUrl);
  if (site !== 'same-origin' && site !== 'none') return true;
  return headers.origin === 'null' || isCrossSite(headers, baseUrl);
}

/** Returns the host and port in lower case, without the default port of either scheme, as browsers do. */
function hostOf(url: string): string | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.host.replace(/:(?:80|443)$/, '') || undefined;
}
