/** The kinds of mail to customers. */
import type { MailData } from './data.ts';

export type MailKind = keyof MailData;

interface MailRow<Data> {
  readonly when: string;
  /** When the mail becomes outdated and is no longer sent; without it, the mail never does. */
  readonly staleAt?: (data: Data) => Date;
  /** The customer is waiting for it: it is sent before other mail. */
  readonly urgent?: true;
  /** Sent after all other mail. */
  readonly bulk?: true;
  /** Sent even though the customer is deleted. */
  readonly outlivesCustomer?: true;
  /** The rightful owner must be able to read it: sent unencrypted if the key is new or unusable. */
  readonly mustBeRead?: true;
}

export const MAILS: { readonly [Kind in MailKind]: MailRow<MailData[Kind]> } = {
  low_balance: {
    when: 'a cycle ends within 7 days and the balance does not cover the renewals',
    staleAt: (data) => data.paidUntil,
  },
  server_ends: {
    when: 'a cycle ends within 7 days and the server is set not to renew',
    staleAt: (data) => data.paidUntil,
  },
  server_suspended: { when: 'a server was suspended' },
  destruction_warning: {
    when: '7, 3, and 1 days before a suspended server is deleted',
    staleAt: (data) => data.destroyAt,
  },
  server_destroyed: { when: 'a suspended server was deleted after the grace period' },
  server_lost: { when: 'the machine that a server ran on was lost' },
  storage_lost: { when: 'volumes or snapshots were lost with the machine that had them' },
  server_blackholed: { when: 'packets to and from a server are dropped', urgent: true },
  blackhole_lifted: { when: 'packets to and from a server pass again', urgent: true },
  backups_failed: { when: 'two backups of a server in a row failed or were missed' },
  alerts_fired: { when: 'alerts began to fire for servers' },
  ticket_answered: { when: 'we answered a ticket', urgent: true },
  mailing: { when: 'staff wrote to a set of customers', bulk: true },
  ticket_opened: { when: 'we opened a ticket about a report of abuse', urgent: true },
  price_change: { when: 'the operator announced a new price for a plan' },
  webhook_paused: { when: 'a webhook was paused because its receiver responded with 410' },
  topup_credited: { when: 'a payment was credited' },
  topup_reversed: { when: 'a credit was taken back because its payment left the chain' },
  new_sign_in: { when: 'someone signed in to the account' },
  confirm_address: {
    when: 'the customer must confirm an email address',
    urgent: true,
    staleAt: (data) => data.expiresAt,
  },
  address_changed: { when: 'the email address of the account was changed', mustBeRead: true },
  reset_password: {
    when: 'someone asked for a new password',
    urgent: true,
    staleAt: (data) => data.expiresAt,
  },
  password_changed: { when: 'the password was changed by a signed-in customer', mustBeRead: true },
  openpgp_key_changed: { when: 'the OpenPGP key of the account was set or removed', mustBeRead: true },
  totp_changed: { when: 'one-time codes were turned on or off', mustBeRead: true },
  passkey_changed: { when: 'a passkey was added or removed', mustBeRead: true },
  access_revoked: {
    when: 'API tokens were revoked and webhooks paused to take the account back',
    mustBeRead: true,
  },
  token_created: { when: 'an API token was created', mustBeRead: true },
  webhook_created: { when: 'a webhook was created', mustBeRead: true },
  account_deleted: { when: 'the account was deleted', outlivesCustomer: true },
};
export const MAIL_KINDS = Object.keys(MAILS) as readonly MailKind[];
