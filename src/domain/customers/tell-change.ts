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
  | { readonly kind: 'openpgp_key_changed'; readonly fingerprint: string | null };

/**
 * Tells the address that the account has now of a change by its customer, in the transaction that makes it; of no more than so many
 * an hour. The caller holds the customer's lock, and wakes the service.
 */
export async function tellOfChange(
  tx: Sql,
  service: Service,
  { customerId, ipCountry: country }: CustomerActor,
  change: Change & { readonly to: string },
  now: Date,
): Promise<void> {
  const { kind, to } = change;
  const most = LIMITS.accountMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  if ((await countMailsSince(tx, { customerId, kind, since }, most)) >= most) return;
  const said: MailData['password_changed'] = { changedAt: now, country };
  const about = { customerId, cause: `changed:${newId(now)}`, to };
  const mail =
    change.kind === 'password_changed'
      ? { ...about, kind: change.kind, data: said }
      : { ...about, kind: change.kind, data: { ...said, fingerprint: change.fingerprint } };
  await enqueueMail(tx, mail, now, service.keys);
}
