/** Signs in with a passkey: alone, or in place of the one-time code after the password. */
import { fail } from '../../../kernel/fail.ts';
import { findCustomer, findCustomerByEmail, lockCustomer } from '../../../store/customers/customers.ts';
import { findPasskey } from '../../../store/customers/passkeys.ts';
import type { Service } from '../../context.ts';
import type { DeviceAccount } from '../../sessions/device.ts';
import { notifySignIn, type OpenedSession, openSession, type Visit } from '../../sessions/open.ts';
import { parseEmail } from '../email/email.ts';
import { type ChallengeContext, requireRelyingParty } from './challenge.ts';
import { consume, type Proof, parseAnswer, prove, requestOptions } from './verify.ts';

const signInContext = ({ visitor }: Visit): ChallengeContext => ({
  purpose: 'sign_in',
  visitor,
  customerId: '',
});

const factorContext = ({ visitor }: Visit, customerId: string): ChallengeContext => ({
  purpose: 'factor',
  visitor,
  customerId,
});

/**
 * Returns the options for the browser's `navigator.credentials.get`. With an address and a password, those of
 * the account's passkeys, as a second factor; fails with `bad_credentials`. Without, those of any account.
 */
export async function beginPasskeySignIn(
  service: Service,
  visit: Visit,
  form: { readonly email: string; readonly password: string },
): Promise<object> {
  requireRelyingParty(service);
  if (form.email === '') return await requestOptions(service, signInContext(visit));
  const customer = await findCustomerByEmail(service.db, parseEmail(form.email)?.key ?? '');
  const lane = visit.isKnownDevice ? 'known' : 'others';
  const matches = await service.passwords.verify(form.password, customer?.password_hash ?? null, lane);
  if (!customer || !matches || customer.deleting_at) fail('bad_credentials');
  return await requestOptions(service, factorContext(visit, customer.id));
}

/** Finds the account whose passkey an answer claims to be from, without verifying it. */
export async function findClaimedAccount(
  { db }: Pick<Service, 'db'>,
  text: string,
): Promise<DeviceAccount | undefined> {
  const passkey = await findPasskey(db, Buffer.from(parseAnswer(text).id, 'base64url'));
  return passkey && (await findCustomer(db, passkey.customer_id));
}

/** Signs in with a passkey alone. Fails with `bad_passkey`, for every reason alike. */
export async function signInWithPasskey(
  service: Service,
  visit: Visit,
  form: { readonly passkey: string },
): Promise<OpenedSession> {
  const proof = await prove(service, signInContext(visit), form.passkey);
  const { customer_id: customerId } = proof.passkey;
  const opened = await service.db.transaction(async (tx) => {
    const customer = await lockCustomer(tx, customerId);
    if (!customer || customer.deleting_at) fail('bad_passkey');
    const now = service.clock.now();
    await consume(tx, proof, now);
    const session = await openSession(tx, visit, { id: customerId, action: 'customer.sign_in' }, now);
    await notifySignIn(tx, service, { customerId, ...session }, now);
    return session;
  });
  service.wake();
  return opened;
}

/** Verifies the answer of a customer whose password is correct; null: there is none. */
export async function proveFactor(
  service: Service,
  visit: Visit,
  customerId: string,
  passkey: string | undefined,
): Promise<Proof | null> {
  if (passkey === undefined || passkey === '') return null;
  return await prove(service, factorContext(visit, customerId), passkey);
}
