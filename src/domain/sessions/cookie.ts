/**
 * The session cookie. A visitor's is `keyId.seed.mac`: a random seed that we signed, and nothing is stored, so that
 * strangers cost no rows. Signing in appends a secret, `keyId.seed.mac.secret`; of that cookie only the digest is kept.
 *
 * The CSRF value is a keyed hash of the seed. The seed stays when the secret comes, changes and goes, so the value
 * survives sign-in and sign-out, and it can be checked for a session that has ended: such a caller hears that he must
 * sign in, not that his form is forged.
 */
import { randomBytes } from 'node:crypto';
import { digest, type KeyRing, timingSafeEqualText } from '../../kernel/secrets.ts';

const COOKIE =
  /^(([a-zA-Z0-9_-]{1,16})\.([A-Za-z0-9_-]{43}))\.([A-Za-z0-9_-]{43})(?:\.([A-Za-z0-9_-]{43}))?$/;

export interface Cookie {
  /** The part that every visitor has: the whole cookie of one who is not signed in. */
  readonly visitor: string;
  /** SHA-256 of the whole cookie; null when it is no session's. */
  readonly sessionDigest: Buffer | null;
}

/** The cookie of somebody new. */
export function newVisitorCookie(keys: KeyRing): string {
  const signed = `${keys.newestId}.${randomBytes(32).toString('base64url')}`;
  return `${signed}.${computeMac(keys, keys.newestId, signed)}`;
}

/** The cookie's parts, or undefined when it is not one that we made: then it counts as none. */
export function readCookie(keys: KeyRing, text: string | undefined): Cookie | undefined {
  const match = COOKIE.exec(text ?? '');
  if (!text || !match) return undefined;
  const [, signed = '', keyId = '', , mac = '', secret] = match;
  if (!keys.has(keyId) || !timingSafeEqualText(mac, computeMac(keys, keyId, signed))) return undefined;
  return { visitor: `${signed}.${mac}`, sessionDigest: secret === undefined ? null : digest(text) };
}

/** A fresh session cookie for the same visitor, and what is stored of it. */
export function newSessionCookie(visitor: string): { readonly text: string; readonly digest: Buffer } {
  const text = `${visitor}.${randomBytes(32).toString('base64url')}`;
  return { text, digest: digest(text) };
}

/** The visitor's CSRF value: 64 hex characters. */
export function computeCsrfToken(keys: KeyRing, visitor: string): string {
  const [keyId = '', seed = ''] = visitor.split('.');
  return keys.hmac('csrf value', seed, keyId).toString('hex');
}

function computeMac(keys: KeyRing, keyId: string, signed: string): string {
  return keys.hmac('visitor cookie', signed, keyId).toString('base64url');
}
