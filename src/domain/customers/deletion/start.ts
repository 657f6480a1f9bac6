/**
 * Starts an account deletion: marks the account and revokes all access. A worker removes the rest
 * (tear-down.ts). The remaining balance is forfeited. Legal holds and pending payments block the start.
 */
import { fail } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { lockCustomer } from '../../../store/customers/customers.ts';
import {
  findDeletingCustomer,
  markDeleting,
  readDeletionBlockers,
  revokeAccess,
} from '../../../store/customers/deletion.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import type { Actor, CustomerActor, Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { requireCustomer } from '../operator.ts';
import { checkOwner, type OwnerProof } from '../owner.ts';
import { lockChecked } from '../password.ts';
import { getOwnAccount } from '../read.ts';
import { tearDownAccount } from './tear-down.ts';

/** The losses if the account were deleted now, and the reasons that prevent it. */
export interface DeletionPreview {
  readonly email: string;
  /** US dollars; 0 for a debt. */
  readonly forfeited: number;
  /** Number of servers deleted with it. */
  readonly servers: number;
  /** A server is under a legal hold. */
  readonly legalHold: boolean;
  /** Whether a payment is pending or withheld. */
  readonly paymentPending: boolean;
}

export async function previewDeletion(service: Service, actor: CustomerActor): Promise<DeletionPreview> {
  const [{ email, balance }, { servers, held, paying: paymentPending }] = await Promise.all([
    getOwnAccount(service, actor),
    readDeletionBlockers(service.db, actor.customerId),
  ]);
  const forfeited = Math.max(balance, 0);
  return { email, forfeited, servers: Number(servers), legalHold: held > 0n, paymentPending };
}

export interface DeletionResult {
  /** False while servers, disks, or images are being removed. The address becomes available afterwards. */
  readonly completed: boolean;
  /** The balance lost, as of now. Later refunds of deleted servers are lost too. */
  readonly forfeitedCents: bigint;
}

interface DeletionOptions {
  readonly destroyServers: boolean;
}

/**
 * Deletes the actor's own account. Fails with `bad_credentials`, `servers_left` unless servers are to be
 * deleted too, `payments_left`, or `jurisdictional_block` under a legal hold.
 */
export async function deleteAccount(
  service: Service,
  actor: CustomerActor,
  form: DeletionOptions & OwnerProof,
): Promise<DeletionResult> {
  const checked = await checkOwner(service, actor, form);
  const { customerId } = actor;
  const forfeitedCents = await service.db.transaction(async (tx) => {
    await lockChecked(tx, actor, checked);
    return await startDeletion(tx, { customerId, actor, ...form }, service.clock.now());
  });
  return await continueDeletion(service, customerId, forfeitedCents);
}

/**
 * Deletes an account on behalf of the operator. Fails for a frozen account, which is preserved until
 * unfrozen.
 */
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
      fail('account_frozen', {}, 'This account is frozen. Unfreeze it before you delete it.');
    }
    const request = { customerId: found.id, actor: systemActor(now), ...options };
    return { customerId: found.id, forfeitedCents: await startDeletion(tx, request, now) };
  });
  return await continueDeletion(service, customerId, forfeitedCents);
}

/** Starts the deletion under the customer's lock and returns the forfeited balance. Idempotent. */
async function startDeletion(
  tx: Sql,
  {
    customerId,
    actor,
    destroyServers,
  }: DeletionOptions & { readonly customerId: string; readonly actor: Actor },
  now: Date,
): Promise<bigint> {
  // Orders need this lock too, so no server can be added between the check and the mark.
  const balanceCents = (await lockBalance(tx, customerId)) ?? 0n;
  requireNoBlockers(await readDeletionBlockers(tx, customerId), destroyServers);
  if (await markDeleting(tx, customerId, now)) {
    await revokeAccess(tx, customerId);
    await recordAudit(tx, { actor, action: 'customer.delete', resource: null, customerId }, now);
  }
  await enqueueTask(tx, { kind: 'account_delete', subject: customerId, now });
  return balanceCents > 0n ? balanceCents : 0n;
}

function requireNoBlockers(
  { servers, held, paying }: Awaited<ReturnType<typeof readDeletionBlockers>>,
  destroyServers: boolean,
): void {
  if (held > 0n) {
    const why = 'Refused for legal reasons: a server of this account is under a legal hold. Contact us.';
    fail('jurisdictional_block', {}, why);
  }
  if (paying) {
    const why =
      'A payment of this account is pending or withheld. Wait until it is credited, or request a refund.';
    fail('payments_left', {}, why);
  }
  if (servers > 0n && !destroyServers) {
    const why =
      'The account still has servers. Delete them first, or set destroy_servers=yes to delete them with it.';
    fail('servers_left', { servers: Number(servers) }, why);
  }
}

/** Does as much as possible now. The queued task does the rest. */
async function continueDeletion(
  service: Service,
  customerId: string,
  forfeitedCents: bigint,
): Promise<DeletionResult> {
  try {
    await tearDownAccount(service, customerId);
  } catch (error) {
    service.log.warn({ err: error }, 'deleting the account failed; a worker retries');
  }
  service.wake();
  const leaving = await findDeletingCustomer(service.db, customerId);
  return { completed: leaving?.deleted_at != null, forfeitedCents };
}
