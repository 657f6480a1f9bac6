import type { Sql } from '../../kernel/sql.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import type { Email } from './email.ts';
import { createLink } from './mail-links.ts';

/**
 * Queues a mail with a link. Opening a `confirm` link confirms the account's address; opening a `change` link
 * replaces it with this one.
 */
export async function enqueueConfirmation(
  tx: Sql,
  service: Service,
  to: { readonly customerId: string; readonly purpose: 'confirm' | 'change'; readonly email: Email },
  now: Date,
): Promise<void> {
  const { path, expiresAt, cause } = await createLink(tx, to, now);
  const { customerId, email } = to;
  const mail = { customerId, kind: 'confirm_address', cause, data: { path, expiresAt } } as const;
  await enqueueMail(tx, { ...mail, to: email.address }, now, service.keys);
}
