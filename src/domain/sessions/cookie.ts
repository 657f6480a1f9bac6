/**
 * The session cookie. A visitor's cookie is `keyId.seed.mac`: a signed random seed. Nothing is stored, so
 * strangers cost no rows. Signing in appends a secret, `keyId.seed.mac.secret`; only the digest of that
 * cookie is stored.
 *
 * The CSRF token is a keyed hash of the seed. The seed does not change with the secret, so the token
 * survives sign-in and sign-out. It can also be checked for an ended session: the caller then learns that
 * they must sign in, instead of a forged form.
 */
import { randomBytes } from 'node:crypto';
import { digest, type KeyRing, timingSafeEqualText } from '../../kernel/secrets.ts';

const COOKIE =
  /^(([a-zA-Z0-9_-]{1,16})\.([A-Za-z0-9_-]{43}))\.([A-Za-z0-9_-]{43})(?:\.([A-Za-z0-9_-]{43}))?$/;

export interface Cookie {
  /** The part that every visitor has; the whole cookie if not signed in. */
  readonly visitor: string;
  /** SHA-256 of the whole cookie; null without a session. */
  readonly sessionDigest: Buffer | null;
}

/** Returns the cookie of a new visitor. */
export function newVisitorCookie(keys: KeyRing): string {
  const signed = `${keys.newestId}.${randomBytes(32).toString('base64url')}`;
  return `${signed}.${computeMac(keys, keys.newestId, signed)}`;
}

/** Parses a cookie; undefined unless it carries our signature. */
export function readCookie(keys: KeyRing, text: string | undefined): Cookie | undefined {
  const match = COOKIE.exec(text ?? '');
  if (!text || !match) return undefined;
  const [, signed = '', keyId = '', , mac = '', secret] = match;
  if (!keys.has(keyId) || !timingSafeEqualText(mac, computeMac(keys, keyId, signed))) return undefined;
  return { visitor: `${signed}.${mac}`, sessionDigest: secret === undefined ? null : digest(text) };
}

/** Returns a new session cookie for the same visitor, and the digest to store. */
export function newSessionCookie(visitor: string): { readonly text: string; readonly digest: Buffer } {
  const text = `${visitor}.${randomBytes(32).toString('base64url')}`;
  return { text, digest: digest(text) };
}

/** Returns the visitor's CSRF token: 64 hex characters. */
export function computeCsrfToken(keys: KeyRing, visitor: string): string {
  const [keyId = '', seed = ''] = visitor.split('.');
  return keys.hmac('csrf value', seed, keyId).toString('hex');
}

function computeMac(keys: KeyRing, keyId: string, signed: string): string {
  return keys.hmac('visitor cookie', signed, keyId).toString('base64url');
}
