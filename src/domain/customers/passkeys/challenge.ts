/**
 * The site's name for authenticators, and the challenges that they sign. A challenge carries its time and a
 * keyed hash of its purpose and its visitor, so a stranger's request stores nothing. The answer to one is
 * accepted once, within minutes, for the same purpose and from the same visitor or session.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { fail } from '../../../kernel/fail.ts';
import { digest } from '../../../kernel/secrets.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { insertUsedChallenge } from '../../../store/customers/passkeys.ts';
import type { Service } from '../../context.ts';

export interface RelyingParty {
  /** The host name of the panel. Passkeys belong to it: with another name they are lost. */
  readonly id: string;
  readonly origin: string;
  readonly name: string;
}

export function findRelyingParty({ settings }: Pick<Service, 'settings'>): RelyingParty | null {
  return relyingPartyAt(settings.baseUrl, settings.siteName);
}

/** Browsers offer passkeys only over https or on localhost, and never for an IP address. */
export function relyingPartyAt(url: string, name: string): RelyingParty | null {
  const { hostname: id, origin, protocol } = new URL(url);
  const isSecure = protocol === 'https:' || id === 'localhost' || id.endsWith('.localhost');
  const isAddress = isIP(id) !== 0 || id.startsWith('[');
  return isSecure && !isAddress ? { id, origin, name } : null;
}

/** Fails with `unavailable` where browsers have no passkeys. */
export function requireRelyingParty(service: Pick<Service, 'settings'>): RelyingParty {
  const message = 'Passkeys need a host name with https. This service has none.';
  return findRelyingParty(service) ?? fail('unavailable', { field: 'passkey' }, message);
}

/** The use of the answer. `factor`: after the password; `confirm`: again, in a session. */
export type ChallengePurpose = 'add' | 'sign_in' | 'factor' | 'confirm' | 'staff_add' | 'staff_sign_in';

/** Everything that a challenge is bound to. */
export interface ChallengeContext {
  readonly purpose: ChallengePurpose;
  /** The visitor, or the id of their session. */
  readonly visitor: string;
  /** Or the id of a person of the staff. Empty: not known before the answer. */
  readonly customerId: string;
}

const TTL_MS = LIMITS.passkeyChallengeMinutes * MINUTE_MS;
const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const HEAD_BYTES = TIME_BYTES + RANDOM_BYTES;

type Deps = Pick<Service, 'keys' | 'clock'>;

export function createChallenge({ keys, clock }: Deps, context: ChallengeContext): Uint8Array<ArrayBuffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUIntBE(clock.now().getTime(), 0, TIME_BYTES);
  randomBytes(RANDOM_BYTES).copy(head, TIME_BYTES);
  return new Uint8Array(Buffer.concat([head, macOf(keys, context, head)]));
}

/** Whether we created the challenge, as base64url, for this context, and it has not expired. */
export function isOwnChallenge({ keys, clock }: Deps, context: ChallengeContext, text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  const head = bytes.subarray(0, HEAD_BYTES);
  const mac = macOf(keys, context, head);
  if (bytes.length !== HEAD_BYTES + mac.length || !timingSafeEqual(bytes.subarray(HEAD_BYTES), mac))
    return false;
  const ageMs = clock.now().getTime() - head.readUIntBE(0, TIME_BYTES);
  return ageMs >= 0 && ageMs < TTL_MS;
}

/** Uses up a challenge; fails with `bad_passkey` if it was answered before. */
export async function useChallenge(tx: Sql, text: string, now: Date): Promise<void> {
  // Kept a little longer than it is valid, whichever clock is ahead.
  const expiresAt = new Date(now.getTime() + 2 * TTL_MS);
  if (!(await insertUsedChallenge(tx, digest(text), expiresAt))) fail('bad_passkey');
}

function macOf(
  keys: Service['keys'],
  { purpose, visitor, customerId }: ChallengeContext,
  head: Buffer,
): Buffer {
  return keys.hmac('passkey challenge', JSON.stringify([purpose, visitor, customerId, head.toString('hex')]));
}
