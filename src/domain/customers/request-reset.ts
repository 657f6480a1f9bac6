/**
 * Asking for a new password by mail. The request is put down for any address alike and looked up afterwards by a worker, so
 * neither its answer nor its time tells whether there is such an account.
 */
import { fail } from '../../kernel/fail.ts';
import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { type CustomerRow, findCustomerByEmail, lockCustomer } from '../../store/customers.ts';
import {
  deleteResetRequest,
  findResetRequest,
  insertResetRequest,
  type ResetRequestRow,
} from '../../store/reset-requests.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { Actor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireEmail } from './email.ts';
import { createLink, linkMailRetryAfterS } from './mail-links.ts';

/** What the addresses are sealed for. */
const SEAL_PURPOSE = 'reset request';
/** Requests that wait for a worker. Beyond them nobody is served, whoever asks. */
const PENDING_MAX = 1_000;

/** Refuses: `bad_email`, `unavailable` where no mail is sent, `maintenance` when too many wait. */
export async function requestReset(service: Service, actor: Actor, typedEmail: string): Promise<void> {
  const email = requireEmail(typedEmail);
  if (service.mailer === null) {
    fail('unavailable', { field: 'email' }, 'No mail is sent here: use your recovery code instead.');
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

/** Task `reset_request`: mails a link to the account, where there is one and it has room for another mail. */
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
