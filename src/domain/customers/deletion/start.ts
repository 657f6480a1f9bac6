/**
 * Deleting an account. It begins with a mark and the end of every way in; a worker takes the rest down (take-down.ts). The
 * balance that is left is forfeited. What the law or money still wants of the account keeps it from beginning.
 */
import { crashPoint } from '../../../kernel/crash.ts';
import { fail } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import {
  findDeletingCustomer,
  markDeleting,
  readDeletionBlockers,
  revokeAccess,
} from '../../../store/account-deletion.ts';
import { lockCustomer } from '../../../store/customers.ts';
import { lockBalance } from '../../../store/ledger.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { Actor, CustomerActor, Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { requireCustomer } from '../by-email.ts';
import { checkPassword } from '../check-password.ts';
import { tearDownAccount } from './tear-down.ts';

export interface DeletionResult {
  /** False: servers, disks or images are being removed first, and the address is free when they are gone. */
  readonly completed: boolean;
  /** The balance that is lost with the account, as it is now; what destroyed servers give back is lost too. */
  readonly forfeitedCents: bigint;
}

interface DeletionOptions {
  readonly destroyServers: boolean;
}

/**
 * Deletes the actor's own account. Refuses: `bad_credentials`, `servers_left` unless they are to be destroyed with it,
 * `payments_left`, and `jurisdictional_block` under a legal hold.
 */
export async function deleteAccount(
  service: Service,
  actor: CustomerActor,
  form: DeletionOptions & { readonly currentPassword: string },
): Promise<DeletionResult> {
  const checked = await checkPassword(service, actor, form.currentPassword);
  const { customerId } = actor;
  const forfeitedCents = await service.db.transaction(async (tx) => {
    const customer = await lockCustomer(tx, customerId);
    if (customer?.password_hash !== checked) fail('bad_credentials');
    return await startDeletion(tx, { customerId, actor, ...form }, service.clock.now());
  });
  return await continueDeletion(service, customerId, forfeitedCents);
}

/** The same by the operator. A frozen account is refused: it is kept as it is until it is unfrozen. */
export async function deleteCustomer(
  service: Service,
  email: string,
  options: DeletionOptions,
): Promise<DeletionResult> {
  const { customerId, forfeitedCents } = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const found = await requireCustomer(tx, email);
    const customer = await lockCustomer(tx, found.id);
    if (customer?.frozen_at) {
      fail('account_frozen', {}, 'This account is frozen: unfreeze it first, if it may be deleted.');
    }
    const request = { customerId: found.id, actor: systemActor(now), ...options };
    return { customerId: found.id, forfeitedCents: await startDeletion(tx, request, now) };
  });
  return await continueDeletion(service, customerId, forfeitedCents);
}

/** Under the customer's lock; returns the balance, which is forfeited. Asked again, it goes on as it was begun. */
async function startDeletion(
  tx: Sql,
  {
    customerId,
    actor,
    destroyServers,
  }: DeletionOptions & { readonly customerId: string; readonly actor: Actor },
  now: Date,
): Promise<bigint> {
  // Whoever buys a server needs this lock: none comes between the look and the mark.
  const balanceCents = (await lockBalance(tx, customerId)) ?? 0n;
  refuseObstacles(await readDeletionBlockers(tx, customerId), destroyServers);
  if (await markDeleting(tx, customerId, now)) {
    await revokeAccess(tx, customerId);
    await recordAudit(tx, { actor, action: 'customer.delete', resource: null, customerId }, now);
  }
  await enqueueTask(tx, { kind: 'account_delete', subject: customerId, now });
  crashPoint('account.leaving_written');
  return balanceCents > 0n ? balanceCents : 0n;
}

function refuseObstacles(
  { servers, held, paying }: Awaited<ReturnType<typeof readDeletionBlockers>>,
  destroyServers: boolean,
): void {
  if (held > 0n) {
    const why =
      'Refused for legal reasons: a server of this account is under a legal hold. Contact the operator.';
    fail('jurisdictional_block', {}, why);
  }
  if (paying) {
    const why =
      'A payment of this account is on its way or held: wait until it is credited, or ask for it back.';
    fail('payments_left', {}, why);
  }
  if (servers > 0n && !destroyServers) {
    const why =
      'The account still has servers: destroy them first, or say destroy_servers=yes to lose them with it.';
    fail('servers_left', { servers: Number(servers) }, why);
  }
}

/** What can be done at once is done at once; the worker has it anyway. */
async function continueDeletion(
  service: Service,
  customerId: string,
  forfeitedCents: bigint,
): Promise<DeletionResult> {
  crashPoint('account.leaving');
  try {
    await tearDownAccount(service, customerId);
  } catch (error) {
    service.log.warn({ err: error }, 'an account is deleted later');
  }
  service.wake();
  const leaving = await findDeletingCustomer(service.db, customerId);
  return { completed: leaving?.deleted_at != null, forfeitedCents };
}
