/**
 * Asks for the owner of an account again, before actions that a stolen session must not be able to take: with
 * the current password, or with a passkey instead.
 */
import { fail } from '../../kernel/fail.ts';
import { findCustomer } from '../../store/customers/customers.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { ChallengeContext } from './passkeys/challenge.ts';
import { consume, prove, requestOptions } from './passkeys/verify.ts';
import { checkPassword } from './password.ts';

export interface OwnerProof {
  readonly currentPassword: string;
  /** The browser's answer, as JSON; absent or empty: the password counts. */
  readonly passkey?: string;
}

const confirmContext = ({ customerId, sessionId }: CustomerActor): ChallengeContext => ({
  purpose: 'confirm',
  visitor: sessionId ?? '',
  customerId,
});

/** Returns the options for the browser to ask for a passkey of this customer. */
export async function beginOwnerCheck(service: Service, actor: CustomerActor): Promise<object> {
  return await requestOptions(service, confirmContext(actor));
}

/**
 * Checks the passkey if there is one, and the password otherwise. Fails with `bad_passkey` or
 * `bad_credentials`. Returns the stored password hash, as `checkPassword` does.
 */
export async function checkOwner(
  service: Service,
  actor: CustomerActor,
  { currentPassword, passkey = '' }: OwnerProof,
): Promise<string> {
  if (passkey === '') return await checkPassword(service, actor, currentPassword);
  const proof = await prove(service, confirmContext(actor), passkey);
  await service.db.transaction((tx) => consume(tx, proof, service.clock.now()));
  return (await findCustomer(service.db, actor.customerId))?.password_hash ?? fail('auth_required');
}
