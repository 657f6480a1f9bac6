/**
 * Every mail that is sent to customers, with what its template needs. Times are UTC; money is in cents of US dollars; a `path` is one
 * of the panel's, the base URL is put before it when the mail is written. `data` is kept sealed, so a path may hold a token.
 */
export interface MailData {
  /** Once per server and cycle: its end is near and the balance cannot pay all that renews until then. */
  low_balance: {
    readonly server: string;
    readonly months: number;
    readonly paidUntil: Date;
    /** What this server's next cycle costs. */
    readonly priceCents: bigint;
    /** What all servers that renew until this one's cycle ends cost together. */
    readonly neededCents: bigint;
    readonly balanceCents: bigint;
  };
  /** Once per server and cycle: its end is near and it is set not to renew. */
  server_ends: {
    readonly server: string;
    readonly months: number;
    readonly paidUntil: Date;
    /** What the next cycle would cost. */
    readonly priceCents: bigint;
  };
  server_suspended: {
    readonly server: string;
    readonly reason: SuspensionReason;
    /** What the operator wrote to the customer, where it was he. */
    readonly note?: string;
    readonly suspendedAt: Date;
    readonly months: number;
    /** What the next cycle costs. */
    readonly priceCents: bigint;
    readonly balanceCents: bigint;
    /** The end of the grace period; null where the server is not destroyed by the calendar. */
    readonly destroyAt: Date | null;
  };
  /** 7, 3 and 1 days before the end of the grace period. */
  destruction_warning: {
    readonly server: string;
    readonly reason: SuspensionReason;
    readonly days: number;
    readonly destroyAt: Date;
    readonly months: number;
    readonly priceCents: bigint;
    readonly balanceCents: bigint;
  };
  /** By the calendar, after the grace period: whoever destroys a server himself needs no mail. */
  server_destroyed: {
    readonly server: string;
    readonly reason: SuspensionReason;
    readonly suspendedAt: Date;
    readonly destroyedAt: Date;
  };
  /** One mail names all of the customer's servers that the new price is for. */
  price_change: {
    readonly plan: string;
    readonly oldMonthCents: bigint;
    readonly newMonthCents: bigint;
    /** Cycles that begin from then on cost the new price. */
    readonly from: Date;
    readonly servers: readonly {
      readonly server: string;
      readonly months: number;
      readonly oldCycleCents: bigint;
      readonly newCycleCents: bigint;
      /** When this server pays the new price for the first time. */
      readonly renewsAt: Date;
    }[];
  };
  /** The receiver answered 410. */
  webhook_paused: { readonly webhook: string; readonly url: string; readonly pausedAt: Date };
  topup_credited: {
    /** The shown id. */
    readonly topup: string;
    readonly coin: string;
    readonly creditedCents: bigint;
    readonly bonusCents: bigint;
    readonly balanceCents: bigint;
    readonly creditedAt: Date;
  };
  /** Country only, `XX` when unknown: addresses are kept nowhere. */
  new_sign_in: { readonly signedInAt: Date; readonly country: string };
  confirm_address: { readonly path: string; readonly expiresAt: Date };
  /** To the address that was the account's until now; `undo` null where the change was itself the taking back of another. */
  address_changed: {
    readonly changedAt: Date;
    readonly undo: { readonly path: string; readonly expiresAt: Date } | null;
  };
  reset_password: {
    readonly path: string;
    readonly requestedAt: Date;
    readonly expiresAt: Date;
    readonly country: string;
  };
  /** To the address that the account has then, so that a change of it afterwards does not lead the mail away. */
  password_changed: { readonly changedAt: Date; readonly country: string };
  openpgp_key_changed: {
    readonly changedAt: Date;
    /** Null: the key was removed. */
    readonly fingerprint: string | null;
    readonly country: string;
  };
  /** The second factor was switched on or off, and by what. */
  totp_changed: {
    readonly changedAt: Date;
    readonly on: boolean;
    readonly by: 'customer' | 'recovery_code' | 'operator';
    readonly country: string;
  };
  /** To the address that the account had: give it as `to`. */
  account_deleted: { readonly deletedAt: Date };
}

export type MailKind = keyof MailData;
export type SuspensionReason = 'balance' | 'not_renewed' | 'operator';

interface MailRow<Data> {
  readonly when: string;
  /** From when on it says nothing true or useful any more and is not sent; left out: it keeps. */
  readonly staleAt?: (data: Data) => Date;
  /** Somebody waits for it: it is sent before others. */
  readonly urgent?: true;
  /** Sent although the customer is gone. */
  readonly outlivesCustomer?: true;
  /** It has to be read by whoever the account was taken from: in the clear where the key is new, or can no longer be used. */
  readonly mustBeRead?: true;
}

export const MAILS: { readonly [Kind in MailKind]: MailRow<MailData[Kind]> } = {
  low_balance: {
    when: 'a cycle ends within 7 days and the balance cannot pay what renews',
    staleAt: (data) => data.paidUntil,
  },
  server_ends: {
    when: 'a cycle ends within 7 days and the server is not to be renewed',
    staleAt: (data) => data.paidUntil,
  },
  server_suspended: { when: 'a server was suspended' },
  destruction_warning: {
    when: '7, 3 and 1 days before a suspended server is destroyed',
    staleAt: (data) => data.destroyAt,
  },
  server_destroyed: { when: 'a suspended server was destroyed after the grace period' },
  price_change: { when: 'the operator announced another price for a plan' },
  webhook_paused: { when: 'a webhook was paused because its receiver answered 410' },
  topup_credited: { when: 'a payment was credited' },
  new_sign_in: { when: 'somebody signed in to the account' },
  confirm_address: {
    when: 'an e-mail address is to be confirmed',
    urgent: true,
    staleAt: (data) => data.expiresAt,
  },
  address_changed: { when: 'the e-mail address of the account was changed', mustBeRead: true },
  reset_password: {
    when: 'somebody asked for a new password',
    urgent: true,
    staleAt: (data) => data.expiresAt,
  },
  password_changed: { when: 'the password was changed by somebody who is signed in', mustBeRead: true },
  openpgp_key_changed: { when: 'the OpenPGP key of the account was set or removed', mustBeRead: true },
  totp_changed: { when: 'one-time codes were switched on or off', mustBeRead: true },
  account_deleted: { when: 'the account was deleted', outlivesCustomer: true },
};
export const MAIL_KINDS = Object.keys(MAILS) as readonly MailKind[];
