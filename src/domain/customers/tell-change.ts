import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { MailData } from '../../spec/mails.ts';
import { countMailsSince } from '../../store/mail-links.ts';
import type { CustomerActor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';

/** What was changed; the mail says when and from where by itself. */
type Change =
  | { readonly kind: 'password_changed' }
  | { readonly kind: 'openpgp_key_changed'; readonly fingerprint: string | null }
  | { readonly kind: 'totp_changed'; readonly on: boolean; readonly by: MailData['totp_changed']['by'] };

/**
 * Tells the address that the account has now of a change by its customer, in the transaction that makes it; of no more than so many
 * an hour. The caller holds the customer's lock, and wakes the service.
 */
export async function tellOfChange(
  tx: Sql,
  service: Service,
  { customerId, ipCountry: country }: Pick<CustomerActor, 'customerId' | 'ipCountry'>,
  change: Change & { readonly to: string },
  now: Date,
): Promise<void> {
  const { kind, to } = change;
  const most = LIMITS.accountMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  if ((await countMailsSince(tx, { customerId, kind, since }, most)) >= most) return;
  const said: MailData['password_changed'] = { changedAt: now, country };
  const about = { customerId, cause: `changed:${newId(now)}`, to };
  await enqueueMail(tx, { ...about, ...mailOf(change, said) }, now, service.keys);
}

function mailOf(change: Change, said: MailData['password_changed']) {
  switch (change.kind) {
    case 'password_changed':
      return { kind: change.kind, data: said };
    case 'openpgp_key_changed':
      return { kind: change.kind, data: { ...said, fingerprint: change.fingerprint } };
    case 'totp_changed':
      return { kind: change.kind, data: { ...said, on: change.on, by: change.by } };
  }
}
