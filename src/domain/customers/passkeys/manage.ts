/**
 * A customer's passkeys: adds, lists, renames, and removes them. A passkey signs in, or stands in for a
 * one-time code or the current password. It never is the only way in: the password stays, and the account
 * must have one-time codes or a recovery code for a lost device.
 */
import { fail, notFound } from '../../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../../kernel/ids.ts';
import { parseDisplayName } from '../../../kernel/printable.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { formatSessionTime } from '../../../kernel/time.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { type CustomerRow, findCustomer, lockCustomer } from '../../../store/customers/customers.ts';
import {
  deletePasskey,
  insertPasskey,
  listPasskeys as listRows,
  type PasskeyRow,
  renamePasskey as renameRow,
} from '../../../store/customers/passkeys.ts';
import { findTotp } from '../../../store/customers/totp.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { notifyAccountChange } from '../notify-change.ts';
import { checkOwner, type OwnerProof } from '../owner.ts';
import { lockChecked } from '../password.ts';
import { commitThenThrow, consumeCode, type SubmittedCode } from '../totp-check.ts';
import {
  type ChallengeContext,
  createChallenge,
  isOwnChallenge,
  requireRelyingParty,
  useChallenge,
} from './challenge.ts';
import { describeCredential, loadWebAuthn, parseAnswer, userHandleOf } from './verify.ts';

/** A passkey as its customer sees it. Times have the format of the session API. */
export interface PasskeyView {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
}

export async function listPasskeys(service: Service, actor: CustomerActor): Promise<PasskeyView[]> {
  return (await listRows(service.db, actor.customerId)).map(viewOf);
}

function viewOf({
  id,
  name,
  created_at,
  last_used_at,
}: Omit<PasskeyRow, 'last_used_at'> & { last_used_at: Date | null }): PasskeyView {
  return {
    id: formatId('passkey', id),
    name,
    created_at: formatSessionTime(created_at),
    last_used_at: last_used_at && formatSessionTime(last_used_at),
  };
}

const addContext = ({ customerId, sessionId }: CustomerActor): ChallengeContext => ({
  purpose: 'add',
  visitor: sessionId ?? '',
  customerId,
});

/**
 * Returns the options for the browser's `navigator.credentials.create`. A new passkey signs in without a
 * code, so an account with codes asks for one here. Fails with `bad_credentials`, `code_required`,
 * `bad_code`, `unavailable`, `limit_reached`, or `conflict_state` without another way in.
 */
export async function beginPasskey(
  service: Service,
  actor: CustomerActor,
  form: OwnerProof & { readonly code: string },
  atMs = Date.now(),
): Promise<object> {
  const party = requireRelyingParty(service);
  await checkOwner(service, actor, form);
  if ((form.passkey ?? '') === '') await checkCode(service, actor, { code: form.code, atMs });
  const customer = (await findCustomer(service.db, actor.customerId)) ?? fail('auth_required');
  await requireOtherWayIn(service.db, customer);
  const existing = await listRows(service.db, customer.id);
  requireRoom(existing.length);
  const { generateRegistrationOptions } = await loadWebAuthn();
  return await generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userName: customer.email,
    userID: new Uint8Array(Buffer.from(userHandleOf(customer.id), 'base64url')),
    challenge: createChallenge(service, addContext(actor)),
    attestationType: 'none',
    excludeCredentials: existing.map(describeCredential),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

async function checkCode(
  service: Service,
  { customerId }: CustomerActor,
  given: SubmittedCode,
): Promise<void> {
  await commitThenThrow(service.db, async (tx) => {
    await lockCustomer(tx, customerId);
    return await consumeCode(tx, service, customerId, given);
  });
}

async function requireOtherWayIn(tx: Sql, customer: CustomerRow): Promise<void> {
  if (customer.recovery_digest !== null || (await findTotp(tx, customer.id))?.confirmed_at) return;
  fail('conflict_state', {}, 'Turn on one-time codes first. You need them if you lose the passkey.');
}

function requireRoom(count: number): void {
  const limit = LIMITS.passkeysMax;
  if (count >= limit) fail('limit_reached', { limit }, `An account can have at most ${limit} passkeys.`);
}

/** Stores the passkey that the browser created. Fails with `bad_name`, `bad_passkey`, or `limit_reached`. */
export async function addPasskey(
  service: Service,
  actor: CustomerActor,
  form: { readonly name: string; readonly answer: string },
): Promise<PasskeyView> {
  const name = parseDisplayName(form.name) ?? fail('bad_name', { field: 'name' });
  const { challenge, ...credential } = await verifyNew(service, actor, form.answer);
  const added = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const customer = await lockCustomer(tx, actor.customerId);
    if (!customer || customer.deleting_at) fail('auth_required');
    await requireOtherWayIn(tx, customer);
    requireRoom((await listRows(tx, customer.id)).length);
    await useChallenge(tx, challenge, now);
    const row = { id: newId(now), customer_id: customer.id, name, created_at: now, ...credential };
    if (!(await insertPasskey(tx, row))) fail('bad_passkey', {}, 'This passkey was already added.');
    const view = viewOf({ ...row, last_used_at: null });
    await recordAudit(tx, { actor, action: 'customer.add_passkey', resource: view.id }, now);
    const change = { kind: 'passkey_changed', name, added: true, to: customer.email } as const;
    await notifyAccountChange(tx, service, actor, change, now);
    return view;
  });
  service.wake();
  return added;
}

async function verifyNew(service: Service, actor: CustomerActor, answer: string) {
  const party = requireRelyingParty(service);
  const { verifyRegistrationResponse } = await loadWebAuthn();
  let challenge = '';
  const verified = await verifyRegistrationResponse({
    response: parseAnswer(answer) as unknown as Parameters<typeof verifyRegistrationResponse>[0]['response'],
    expectedChallenge: (given) => {
      challenge = given;
      return isOwnChallenge(service, addContext(actor), given);
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: false,
  }).catch(() => fail('bad_passkey'));
  if (!verified.verified) fail('bad_passkey');
  const { credential } = verified.registrationInfo;
  return {
    challenge,
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    counter: BigInt(credential.counter),
    transports: (credential.transports ?? []).filter((each) => /^[a-z-]{1,20}$/.test(each)).slice(0, 10),
  };
}

/** Fails with `bad_name` or `not_found`. */
export async function renamePasskey(
  service: Service,
  actor: CustomerActor,
  form: { readonly id: string; readonly name: string },
): Promise<void> {
  const id = parseId('passkey', form.id) ?? notFound('passkey');
  const name = parseDisplayName(form.name) ?? fail('bad_name', { field: 'name' });
  await service.db.transaction(async (tx) => {
    if (!(await renameRow(tx, { id, customer_id: actor.customerId, name }))) notFound('passkey');
    const entry = { actor, action: 'customer.rename_passkey', resource: form.id } as const;
    await recordAudit(tx, entry, service.clock.now());
  });
}

/** Fails with `bad_credentials` or `not_found`. */
export async function removePasskey(
  service: Service,
  actor: CustomerActor,
  form: OwnerProof & { readonly id: string },
): Promise<void> {
  const id = parseId('passkey', form.id) ?? notFound('passkey');
  const checked = await checkOwner(service, actor, form);
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { email } = await lockChecked(tx, actor, checked);
    const removed = (await deletePasskey(tx, actor.customerId, id)) ?? notFound('passkey');
    await recordAudit(tx, { actor, action: 'customer.remove_passkey', resource: form.id }, now);
    const change = { kind: 'passkey_changed', name: removed.name, added: false, to: email } as const;
    await notifyAccountChange(tx, service, actor, change, now);
  });
  service.wake();
}
