/**
 * Requests a password reset by mail. Every address is queued alike and looked up later by a worker, so
 * neither the response nor its timing reveals whether the account exists.
 */
import { fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, findCustomerByEmail, lockCustomer } from '../../store/customers/customers.ts';
import {
  deleteResetRequest,
  findResetRequest,
  insertResetRequest,
  type ResetRequestRow,
} from '../../store/customers/mail-links.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { Actor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireEmail } from './email.ts';
import { createLink, linkMailRetryAfterS } from './mail-links.ts';

/** The purpose that seals the addresses. */
const SEAL_PURPOSE = 'reset request';
/** The bound on pending requests. Above it, every request fails alike. */
const PENDING_MAX = 1_000;

/**
 * Fails with `bad_email`, with `unavailable` without a mailer, or with `maintenance` if too many requests
 * are pending.
 */
export async function requestReset(service: Service, actor: Actor, typedEmail: string): Promise<void> {
  const email = requireEmail(typedEmail);
  if (service.mailer === null) {
    fail('unavailable', { field: 'email' }, 'This service sends no email. Use your recovery code instead.');
  }
  const now = service.clock.now();
  const id = newId(now);
  await service.db.transaction(async (tx) => {
    const sealed = service.keys.seal(SEAL_PURPOSE, email.key);
    const row = { id, email_sealed: sealed, ip_country: actor.ipCountry, requested_at: now };
    if (!(await insertResetRequest(tx, row, PENDING_MAX))) fail('maintenance', { retry_after_s: 30 });
    await enqueueTask(tx, { kind: 'reset_request', subject: id, now });
  });
  service.wake();
}

/** Task `reset_request`: mails a link if the account exists and is below its mail limit. */
export async function processResetRequest(service: Service, id: string): Promise<'done'> {
  const request = await findResetRequest(service.db, id);
  if (!request) return 'done';
  const emailKey = service.keys.open(SEAL_PURPOSE, request.email_sealed).toString();
  await service.db.transaction(async (tx) => {
    if (!(await deleteResetRequest(tx, id))) return;
    const found = await findCustomerByEmail(tx, emailKey);
    const customer = found && (await lockCustomer(tx, found.id));
    if (customer?.email_key === emailKey) await enqueueResetMail(tx, service, customer, request);
  });
  service.wake();
  return 'done';
}

async function enqueueResetMail(
  tx: Sql,
  service: Service,
  customer: CustomerRow,
  request: ResetRequestRow,
): Promise<void> {
  const now = service.clock.now();
  const { id: customerId } = customer;
  const email = { address: customer.email, key: customer.email_key };
  if (customer.deleting_at !== null || (await linkMailRetryAfterS(tx, customerId, email, now)) > 0) return;
  const { path, expiresAt, cause } = await createLink(tx, { customerId, purpose: 'reset', email }, now);
  const { requested_at: requestedAt, ip_country: country } = request;
  const data = { path, expiresAt, requestedAt, country };
  await enqueueMail(tx, { customerId, kind: 'reset_password', cause, data }, now, service.keys);
  const actor = { ...systemActor(now), ipCountry: country };
  await recordAudit(tx, { actor, action: 'customer.request_reset', resource: null, customerId }, now);
}
