/**
 * Verifies what an authenticator signed. `prove` checks the signature before the transaction, because that is
 * work; `consume` uses up the challenge and the counter inside it, so that of two answers one is accepted.
 */
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { fail } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { findPasskey, listPasskeys, type PasskeyRow, usePasskey } from '../../../store/customers/passkeys.ts';
import type { Service } from '../../context.ts';
import {
  type ChallengeContext,
  createChallenge,
  isOwnChallenge,
  requireRelyingParty,
  useChallenge,
} from './challenge.ts';

/** Loaded on first use: it takes half a second. */
export async function loadWebAuthn(): Promise<typeof import('@simplewebauthn/server')> {
  return await import('@simplewebauthn/server');
}

/** A verified answer. */
export interface Proof {
  readonly passkey: PasskeyRow;
  readonly challenge: string;
  readonly counter: bigint;
}

/**
 * Returns the options for the browser's `navigator.credentials.get`. Without a customer, the authenticator
 * offers its passkeys for this site, so nothing about an account is revealed.
 */
export async function requestOptions(service: Service, context: ChallengeContext): Promise<object> {
  const party = requireRelyingParty(service);
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const { customerId } = context;
  const passkeys = customerId === '' ? [] : await listPasskeys(service.db, customerId);
  return await generateAuthenticationOptions({
    rpID: party.id,
    challenge: createChallenge(service, context),
    userVerification: needsVerifiedUser(context) ? 'required' : 'discouraged',
    ...(customerId !== '' && { allowCredentials: passkeys.map(describeCredential) }),
  });
}

export function describeCredential({ credential_id, transports }: PasskeyRow) {
  return { id: credential_id.toString('base64url'), transports };
}

/** After a correct password, possession is enough. Otherwise the authenticator asks for a PIN or a finger. */
function needsVerifiedUser({ purpose }: Pick<ChallengeContext, 'purpose'>): boolean {
  return purpose !== 'factor';
}

/** Verifies an answer. Fails with `bad_passkey`, for every reason alike. */
export async function prove(service: Service, context: ChallengeContext, text: string): Promise<Proof> {
  const party = requireRelyingParty(service);
  const response = parseAnswer(text) as unknown as AuthenticationResponseJSON;
  const passkey = await findPasskey(service.db, Buffer.from(response.id, 'base64url'));
  if (!passkey || !fitsCustomer(passkey, context, response)) fail('bad_passkey');
  let challenge = '';
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (given) => {
      challenge = given;
      return isOwnChallenge(service, context, given);
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: needsVerifiedUser(context),
    credential: {
      id: passkey.credential_id.toString('base64url'),
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
  }).catch(() => fail('bad_passkey'));
  if (!verified.verified) fail('bad_passkey');
  return { passkey, challenge, counter: BigInt(verified.authenticationInfo.newCounter) };
}

/** The passkey must be the expected customer's, and the account that the authenticator names its owner. */
function fitsCustomer(
  { customer_id: owner }: PasskeyRow,
  { customerId }: ChallengeContext,
  { response }: AuthenticationResponseJSON,
): boolean {
  if (customerId !== '' && customerId !== owner) return false;
  const { userHandle } = response;
  return userHandle === undefined || userHandle === null || userHandle === userHandleOf(owner);
}

/** Accepts a verified answer in the caller's transaction; fails with `bad_passkey` for a second one. */
export async function consume(tx: Sql, { passkey, challenge, counter }: Proof, now: Date): Promise<void> {
  await useChallenge(tx, challenge, now);
  if (!(await usePasskey(tx, { id: passkey.id, counter, now }))) fail('bad_passkey');
}

/** The account as the authenticator stores it: an id that says nothing about the person. */
export function userHandleOf(customerId: string): string {
  return Buffer.from(customerId.replaceAll('-', ''), 'hex').toString('base64url');
}

const ID_MAX_CHARS = 1_400;

/** Parses an answer of the browser, `PublicKeyCredential.toJSON()`. The library checks the rest. */
export function parseAnswer(text: string): { readonly id: string; readonly response: object } {
  try {
    const answer = JSON.parse(text) as { readonly id?: unknown; readonly response?: unknown } | null;
    const { id, response } = answer ?? {};
    if (
      typeof id === 'string' &&
      id !== '' &&
      id.length <= ID_MAX_CHARS &&
      typeof response === 'object' &&
      response
    )
      return answer as { readonly id: string; readonly response: object };
  } catch {
    // Refused like any other.
  }
  return fail('bad_passkey');
}
