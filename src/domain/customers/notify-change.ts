import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { MailData } from '../../spec/mails.ts';
import { countMailsSince } from '../../store/customers/mail-links.ts';
import type { CustomerActor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';

/** The change. The mail adds its time and country. */
type AccountChange =
  | { readonly kind: 'password_changed' }
  | { readonly kind: 'openpgp_key_changed'; readonly fingerprint: string | null }
  | { readonly kind: 'totp_changed'; readonly on: boolean; readonly by: MailData['totp_changed']['by'] };

/**
 * Mails the account's current address about a change by its customer, in the transaction that makes it.
 * Capped per hour. The caller holds the customer's lock and wakes the service.
 */
export async function notifyAccountChange(
  tx: Sql,
  service: Service,
  { customerId, ipCountry: country }: Pick<CustomerActor, 'customerId' | 'ipCountry'>,
  change: AccountChange & { readonly to: string },
  now: Date,
): Promise<void> {
  const { kind, to } = change;
  const limit = LIMITS.accountMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  if ((await countMailsSince(tx, { customerId, kind, since }, limit)) >= limit) return;
  const context: MailData['password_changed'] = { changedAt: now, country };
  const envelope = { customerId, cause: `changed:${newId(now)}`, to };
  await enqueueMail(tx, { ...envelope, ...changeMail(change, context) }, now, service.keys);
}

function changeMail(change: AccountChange, context: MailData['password_changed']) {
  switch (change.kind) {
    case 'password_changed':
      return { kind: change.kind, data: context };
    case 'openpgp_key_changed':
      return { kind: change.kind, data: { ...context, fingerprint: change.fingerprint } };
    case 'totp_changed':
      return { kind: change.kind, data: { ...context, on: change.on, by: change.by } };
  }
}
