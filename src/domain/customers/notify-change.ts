import { newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { MailData } from '../../spec/mails/data.ts';
import { countMailsSince } from '../../store/customers/mail-links.ts';
import type { CustomerActor, Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';

/** The change. The mail adds its time and country. */
type AccountChange =
  | { readonly kind: 'password_changed' }
  | { readonly kind: 'openpgp_key_changed'; readonly fingerprint: string | null }
  | { readonly kind: 'totp_changed'; readonly on: boolean; readonly by: MailData['totp_changed']['by'] }
  | { readonly kind: 'passkey_changed'; readonly name: string; readonly added: boolean }
  | { readonly kind: 'access_revoked'; readonly revoked: Details<'access_revoked'> }
  | { readonly kind: 'token_created'; readonly token: Details<'token_created'> }
  | { readonly kind: 'webhook_created'; readonly webhook: Details<'webhook_created'> };

interface Context {
  readonly changedAt: Date;
  readonly country: string;
  /** The cap is reached: there is no further mail of this kind for up to an hour. */
  readonly isLast: boolean;
}

/** The data of the mail that comes from the change. */
type Details<Kind extends 'access_revoked' | 'token_created' | 'webhook_created'> = Omit<
  MailData[Kind],
  keyof Context
>;

/**
 * Mails the account's current address about a change by its customer, in the transaction that makes it.
 * Capped per hour. With `to: null`, the mail goes to the address at the time of sending. The caller holds the
 * customer's lock and wakes the service.
 */
export async function notifyAccountChange(
  tx: Sql,
  service: Service,
  { customerId, ipCountry: country }: Pick<CustomerActor, 'customerId' | 'ipCountry'>,
  change: AccountChange & { readonly to: string | null },
  now: Date,
): Promise<void> {
  const { kind, to } = change;
  const limit = LIMITS.accountMailsPerHour;
  const since = new Date(now.getTime() - HOUR_MS);
  const sent = await countMailsSince(tx, { customerId, kind, since }, limit);
  if (sent >= limit) return;
  const context = { changedAt: now, country, isLast: sent + 1 === limit };
  const envelope = { customerId, cause: `changed:${newId(now)}`, ...(to === null ? {} : { to }) };
  await enqueueMail(tx, { ...envelope, ...changeMail(change, context) }, now, service.keys);
}

function changeMail(change: AccountChange, { isLast, ...context }: Context) {
  switch (change.kind) {
    case 'password_changed':
      return { kind: change.kind, data: context };
    case 'openpgp_key_changed':
      return { kind: change.kind, data: { ...context, fingerprint: change.fingerprint } };
    case 'totp_changed':
      return { kind: change.kind, data: { ...context, on: change.on, by: change.by } };
    case 'passkey_changed':
      return { kind: change.kind, data: { ...context, name: change.name, added: change.added } };
    case 'access_revoked':
      return { kind: change.kind, data: { ...context, ...change.revoked } };
    case 'token_created':
      return { kind: change.kind, data: { ...context, ...change.token, isLast } };
    case 'webhook_created':
      return { kind: change.kind, data: { ...context, ...change.webhook, isLast } };
  }
}
