/**
 * Recognizes a browser that has signed in to an account before, so that a flood of guesses from others does
 * not shut it out. Its cookie is `keyId.account.seed.mac`: a keyed hash of the account's address, and a
 * signed random seed. Nothing is stored, and it opens nothing: the password is checked as always.
 */
import { randomBytes } from 'node:crypto';
import { type KeyRing, timingSafeEqualText } from '../../kernel/secrets.ts';
import { parseEmail } from '../customers/email/email.ts';
import type { Session } from './identify.ts';

/** The name of a device whose session is open: it needs no cookie of its own. */
export const SIGNED_IN = 'signed in';

/** Whether the session is that of the account with this address. */
export function isSignedInAs(session: Pick<Session, 'email'> | null, typedEmail: string): boolean {
  return session !== null && parseEmail(session.email)?.key === parseEmail(typedEmail)?.key;
}

const COOKIE = /^([a-zA-Z0-9_-]{1,16})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Returns the cookie for a device that has just signed in with this address; undefined if it is invalid. */
export function newDeviceCookie(keys: KeyRing, typedEmail: string): string | undefined {
  const email = parseEmail(typedEmail);
  if (!email) return undefined;
  const account = computeAccount(keys, keys.newestId, email.key);
  const signed = `${keys.newestId}.${account}.${randomBytes(16).toString('base64url')}`;
  return `${signed}.${computeMac(keys, keys.newestId, signed)}`;
}

/** Returns the device's own name if it has signed in with this address before, or null. */
export function knownDevice(keys: KeyRing, cookie: string | undefined, typedEmail: string): string | null {
  const match = COOKIE.exec(cookie ?? '');
  const email = parseEmail(typedEmail);
  if (!match || !email) return null;
  const [text, keyId = '', account = '', seed = '', mac = ''] = match;
  if (!keys.has(keyId)) return null;
  const signed = text.slice(0, -mac.length - 1);
  const isOurs = timingSafeEqualText(mac, computeMac(keys, keyId, signed));
  return isOurs && timingSafeEqualText(account, computeAccount(keys, keyId, email.key)) ? seed : null;
}

function computeAccount(keys: KeyRing, keyId: string, emailKey: string): string {
  return keys.hmac('known device account', emailKey, keyId).toString('base64url');
}

function computeMac(keys: KeyRing, keyId: string, signed: string): string {
  return keys.hmac('known device', signed, keyId).toString('base64url');
}
