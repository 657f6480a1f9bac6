/**
 * Recognizes a browser that has signed in to an account before, so that a flood of guesses from others does
 * not shut it out. Its cookie is `keyId.account.seed.mac`: a keyed hash of the account and its current
 * password hash, and a signed random seed. So a new password ends all of them. Nothing is stored, and it
 * opens nothing: the password is checked as always.
 */
import { randomBytes } from 'node:crypto';
import { type KeyRing, timingSafeEqualText } from '../../kernel/secrets.ts';
import {
  type CustomerRow,
  findCustomerByEmail,
  findCustomerBySession,
} from '../../store/customers/customers.ts';
import type { Service } from '../context.ts';
import { parseEmail } from '../customers/email/email.ts';
import { readCookie } from './cookie.ts';
import type { Session } from './identify.ts';

/** The account that a device's cookie is bound to. */
export type DeviceAccount = Pick<CustomerRow, 'id' | 'email' | 'password_hash'>;

/** The name of a device whose session is open: it needs no cookie of its own. */
export const SIGNED_IN = 'signed in';

/** Whether the session is that of the account with this address. */
export function isSignedInAs(session: Pick<Session, 'email'> | null, typedEmail: string): boolean {
  return session !== null && parseEmail(session.email)?.key === parseEmail(typedEmail)?.key;
}

export async function findTypedAccount(
  { db }: Pick<Service, 'db'>,
  typedEmail: string,
): Promise<DeviceAccount | undefined> {
  const email = parseEmail(typedEmail);
  return email && (await findCustomerByEmail(db, email.key));
}

const COOKIE = /^([a-zA-Z0-9_-]{1,16})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

/** Returns the cookie for the device that has this session cookie; undefined if its session has ended. */
export async function newDeviceCookie(
  { db, keys }: Pick<Service, 'db' | 'keys'>,
  sessionCookie: string | undefined,
): Promise<string | undefined> {
  const digest = readCookie(keys, sessionCookie)?.sessionDigest;
  const customer = digest && (await findCustomerBySession(db, digest));
  if (!customer) return undefined;
  const account = computeAccount(keys, keys.newestId, customer);
  const signed = `${keys.newestId}.${account}.${randomBytes(16).toString('base64url')}`;
  return `${signed}.${computeMac(keys, keys.newestId, signed)}`;
}

/**
 * Returns the device's own name and the address of the account, if the device has signed in to it since the
 * last change of its password; otherwise null. Looks the account up only for a cookie that we signed.
 */
export async function findKnownDevice(
  keys: KeyRing,
  cookie: string | undefined,
  findAccount: () => Promise<DeviceAccount | undefined>,
): Promise<{ readonly account: string; readonly device: string } | null> {
  const match = COOKIE.exec(cookie ?? '');
  if (!match) return null;
  const [text, keyId = '', account = '', seed = '', mac = ''] = match;
  if (!keys.has(keyId)) return null;
  const signed = text.slice(0, -mac.length - 1);
  if (!timingSafeEqualText(mac, computeMac(keys, keyId, signed))) return null;
  const customer = await findAccount();
  const isKnown = customer && timingSafeEqualText(account, computeAccount(keys, keyId, customer));
  return isKnown ? { account: customer.email, device: seed } : null;
}

/** The hash of a password has a new salt each time, so it also differs if the same password is set again. */
function computeAccount(keys: KeyRing, keyId: string, { id, password_hash }: DeviceAccount): string {
  const account = JSON.stringify([id, password_hash]);
  return keys.hmac('known device account', account, keyId).toString('base64url');
}

function computeMac(keys: KeyRing, keyId: string, signed: string): string {
  return keys.hmac('known device', signed, keyId).toString('base64url');
}
