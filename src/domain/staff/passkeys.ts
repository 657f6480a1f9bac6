/**
 * Passkeys of staff. One signs in alone, so the authenticator always asks for a PIN or a finger. The password
 * and the authenticator app stay, for a lost device.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import { fail } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';
import {
  deleteStaffPasskey,
  findStaffPasskey,
  insertStaffPasskey,
  listStaffPasskeys as listRows,
  type StaffPasskeyRow,
  useStaffPasskey,
} from '../../store/staff/passkeys.ts';
import { lockStaff } from '../../store/staff/staff.ts';
import type { Service } from '../context.ts';
import {
  type ChallengeContext,
  createChallenge,
  isOwnChallenge,
  type RelyingParty,
  relyingPartyAt,
  useChallenge,
} from '../customers/passkeys/challenge.ts';
import { loadWebAuthn, parseAnswer, userHandleOf } from '../customers/passkeys/verify.ts';
import type { StaffActor } from './context.ts';
import { requireStaffCode } from './sign-in.ts';

/** The service, and the URL of the console. */
type Deps = Pick<Service, 'db' | 'clock' | 'keys' | 'settings'> & { readonly consoleUrl: string | null };

export interface StaffPasskeyView {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

/** Null where browsers have no passkeys: they need a host name, with https or on localhost. */
function partyOf({ consoleUrl, settings }: Deps): RelyingParty | null {
  return consoleUrl === null ? null : relyingPartyAt(consoleUrl, `${settings.siteName} console`);
}

function requireParty(deps: Deps): RelyingParty {
  const message = 'Passkeys need a host name with https. The console has none.';
  return partyOf(deps) ?? fail('unavailable', { field: 'passkey' }, message);
}

export async function listStaffPasskeys(
  { db }: Pick<Service, 'db'>,
  { staffId }: StaffActor,
): Promise<StaffPasskeyView[]> {
  return (await listRows(db, staffId)).map(toView);
}

function toView(
  row: Omit<StaffPasskeyRow, 'last_used_at'> & { last_used_at?: Date | null },
): StaffPasskeyView {
  return {
    id: formatId('passkey', row.id),
    name: row.name,
    created_at: formatRfc3339(row.created_at),
    last_used_at: row.last_used_at ? formatRfc3339(row.last_used_at) : null,
  };
}

const signInContext = (visitor: string): ChallengeContext => ({
  purpose: 'staff_sign_in',
  visitor,
  customerId: '',
});

const addContext = ({ staffId, sessionId }: StaffActor): ChallengeContext => ({
  purpose: 'staff_add',
  visitor: sessionId ?? '',
  customerId: staffId,
});

/** The options for `navigator.credentials.get`; null where browsers have no passkeys. */
export async function staffSignInOptions(deps: Deps, visitor: string): Promise<object | null> {
  const party = partyOf(deps);
  if (party === null) return null;
  const { generateAuthenticationOptions } = await loadWebAuthn();
  const challenge = createChallenge(deps, signInContext(visitor));
  return await generateAuthenticationOptions({ rpID: party.id, challenge, userVerification: 'required' });
}

/** Verifies the answer of a sign-in, and uses it up. Fails with `bad_passkey`. Returns the person. */
export async function proveStaffPasskey(deps: Deps, visitor: string, answer: string): Promise<string> {
  const party = requireParty(deps);
  const response = parseAnswer(answer) as unknown as AuthenticationResponseJSON;
  const passkey = await findStaffPasskey(deps.db, Buffer.from(response.id, 'base64url'));
  if (!passkey) fail('bad_passkey');
  let challenge = '';
  const { verifyAuthenticationResponse } = await loadWebAuthn();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: (given) => {
      challenge = given;
      return isOwnChallenge(deps, signInContext(visitor), given);
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: passkey.credential_id.toString('base64url'),
      publicKey: new Uint8Array(passkey.public_key),
      counter: Number(passkey.counter),
    },
  }).catch(() => fail('bad_passkey'));
  if (!verified.verified) fail('bad_passkey');
  const now = deps.clock.now();
  const use = { id: passkey.id, counter: BigInt(verified.authenticationInfo.newCounter), now };
  await deps.db.transaction(async (tx) => {
    await useChallenge(tx, challenge, now);
    if (!(await useStaffPasskey(tx, use))) fail('bad_passkey');
  });
  return passkey.staff_id;
}

/** The options for `navigator.credentials.create`; null where browsers have no passkeys. */
export async function newPasskeyOptions(deps: Deps, actor: StaffActor): Promise<object | null> {
  const party = partyOf(deps);
  if (party === null || actor.sessionId === null) return null;
  const existing = await listRows(deps.db, actor.staffId);
  const { generateRegistrationOptions } = await loadWebAuthn();
  return await generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userName: actor.email,
    userID: new Uint8Array(Buffer.from(userHandleOf(actor.staffId), 'base64url')),
    challenge: createChallenge(deps, addContext(actor)),
    attestationType: 'none',
    excludeCredentials: existing.map((row) => ({ id: row.credential_id.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Fails with `bad_code`, `bad_name`, `bad_passkey`, or `limit_reached`. */
export async function addStaffPasskey(
  deps: Deps,
  actor: StaffActor,
  form: { readonly name: string; readonly answer: string; readonly code: string },
): Promise<StaffPasskeyView> {
  const name = parseDisplayName(form.name) ?? fail('bad_name', { field: 'name' });
  const { challenge, ...credential } = await verifyNew(deps, actor, form.answer);
  await requireStaffCode(deps, actor.staffId, form.code);
  const now = deps.clock.now();
  return await deps.db.transaction(async (tx) => {
    const person = (await lockStaff(tx, actor.staffId)) ?? fail('auth_required');
    const limit = STAFF_LIMITS.passkeysMax;
    if ((await listRows(tx, person.id)).length >= limit) {
      fail('limit_reached', { limit }, `You can have at most ${limit} passkeys.`);
    }
    await useChallenge(tx, challenge, now);
    const row = { id: newId(now), staff_id: person.id, name, created_at: now, ...credential };
    if (!(await insertStaffPasskey(tx, row))) fail('bad_passkey', {}, 'This passkey was already added.');
    return toView(row);
  });
}

async function verifyNew(deps: Deps, actor: StaffActor, answer: string) {
  const party = requireParty(deps);
  const { verifyRegistrationResponse } = await loadWebAuthn();
  let challenge = '';
  const verified = await verifyRegistrationResponse({
    response: parseAnswer(answer) as unknown as RegistrationResponseJSON,
    expectedChallenge: (given) => {
      challenge = given;
      return isOwnChallenge(deps, addContext(actor), given);
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
  }).catch(() => fail('bad_passkey'));
  if (!verified.verified) fail('bad_passkey');
  const { id, publicKey, counter } = verified.registrationInfo.credential;
  return {
    challenge,
    credential_id: Buffer.from(id, 'base64url'),
    public_key: Buffer.from(publicKey),
    counter: BigInt(counter),
  };
}

/** Fails with `not_found`. */
export async function removeStaffPasskey(
  { db }: Pick<Service, 'db'>,
  { staffId }: StaffActor,
  name: string,
): Promise<void> {
  const id = parseId('passkey', name);
  if (!id || !(await deleteStaffPasskey(db, staffId, id))) fail('not_found', {}, 'You have no such passkey.');
}
