import type { AlertComparison, AlertMetric, AlertWindow } from '../alerts.ts';
import type { Scope } from '../scopes.ts';
import type { BlackholeTarget, FloodDirection } from '../staff/floods.ts';
import type { ReversalFate, SuspendedReason } from '../states.ts';

/**
 * Every mail to customers, with the data of its template. Times are UTC, money is in cents of US dollars. A
 * `path` is a panel path; the base URL is added when the mail is rendered. `data` is stored sealed, so a path
 * may contain a token.
 */
export interface MailData {
  /** Once per server and cycle: the cycle ends soon and the balance does not cover the renewals. */
  low_balance: {
    readonly server: string;
    readonly months: number;
    readonly paidUntil: Date;
    /** Price of this server's next cycle. */
    readonly priceCents: bigint;
    /** Total price of all servers that renew up to the end of this cycle. */
    readonly neededCents: bigint;
    readonly balanceCents: bigint;
  };
  /** Once per server and cycle: the cycle ends soon and the server is set not to renew. */
  server_ends: {
    readonly server: string;
    readonly months: number;
    readonly paidUntil: Date;
    /** Price of the next cycle. */
    readonly priceCents: bigint;
    readonly isProtected?: boolean;
  };
  server_suspended: {
    readonly server: string;
    readonly reason: SuspendedReason;
    /** The operator's message to the customer, if the operator suspended the server. */
    readonly note?: string;
    readonly suspendedAt: Date;
    readonly months: number;
    /** Price of the next cycle. */
    readonly priceCents: bigint;
    readonly balanceCents: bigint;
    /** The end of the grace period; null if no date is set for the deletion. */
    readonly destroyAt: Date | null;
    /** It is protected against deletion, which the end of the grace period ignores. */
    readonly isProtected?: boolean;
  };
  /** 7, 3, and 1 days before the end of the grace period. */
  destruction_warning: {
    readonly server: string;
    readonly reason: SuspendedReason;
    readonly days: number;
    readonly destroyAt: Date;
    readonly months: number;
    readonly priceCents: bigint;
    readonly balanceCents: bigint;
    readonly isProtected?: boolean;
  };
  /** After the grace period only: a customer who deletes a server needs no mail. */
  server_destroyed: {
    readonly server: string;
    readonly reason: SuspendedReason;
    readonly suspendedAt: Date;
    readonly destroyedAt: Date;
  };
  /** The machine that it ran on was lost. */
  server_lost: {
    readonly server: string;
    readonly lostAt: Date;
    /** Refunded, 0 if no paid time was left; null if the server is installed again on another machine. */
    readonly refundedCents: bigint | null;
    /** Whether its data is on storage that was not lost. */
    readonly keepsDisk: boolean;
    /** Whether it keeps its addresses. */
    readonly keepsAddresses: boolean;
    /** Whether it is suspended and not paid: it is installed again once it is paid. */
    readonly isSuspended: boolean;
  };
  /** The names of volumes and snapshots that were lost with a host, at most some of each. */
  storage_lost: {
    readonly lostAt: Date;
    readonly volumes: readonly string[];
    readonly snapshots: readonly string[];
    readonly more: number;
  };
  /** Packets to and from its addresses are dropped. */
  server_blackholed: {
    readonly server: string;
    readonly target: BlackholeTarget;
    /** The direction of the flood that is the reason; null: staff decided it for another one. */
    readonly flood: FloodDirection | null;
    readonly blackholedAt: Date;
    readonly until: Date;
  };
  blackhole_lifted: {
    readonly server: string;
    readonly target: BlackholeTarget;
    readonly liftedAt: Date;
  };
  /** Two backups of a server in a row failed or were missed. */
  backups_failed: {
    readonly server: string;
    readonly failedAt: Date;
    /** The time of the last backup that is ready; null if there is none. */
    readonly lastReadyAt: Date | null;
  };
  /** One mail lists what began to fire in one run, at most some of it. */
  alerts_fired: {
    readonly firedAt: Date;
    readonly alerts: readonly {
      readonly name: string;
      readonly server: string;
      readonly metric: AlertMetric;
      /** Null for a metric that is not compared. */
      readonly compare: AlertComparison | null;
      readonly value: number | null;
      readonly window: AlertWindow;
    }[];
    readonly more: number;
    /** The cap is reached: further mails are held back for up to an hour. */
    readonly isLast: boolean;
  };
  /** An answer of staff to a ticket. */
  ticket_answered: {
    /** The public id. */
    readonly ticket: string;
    readonly subject: string;
    readonly text: string;
    readonly isClosed: boolean;
    /** The Message-ID of the customer's last mail in the ticket; absent if there is none. */
    readonly lastMail?: string;
  };
  /** A text of staff to many customers. */
  mailing: {
    readonly subject: string;
    readonly text: string;
    /** For news: where the customer turns it off, in a browser and for mail programs. */
    readonly off: { readonly path: string; readonly postPath: string } | null;
  };
  /** A ticket that we opened, about a report of abuse. */
  ticket_opened: {
    /** The public id. */
    readonly ticket: string;
    readonly subject: string;
    readonly text: string;
    readonly answerBy: Date;
  };
  /** One mail lists all servers of the customer that the new price applies to. */
  price_change: {
    readonly plan: string;
    readonly oldMonthCents: bigint;
    readonly newMonthCents: bigint;
    /** Cycles that begin from this time cost the new price. */
    readonly from: Date;
    readonly servers: readonly {
      readonly server: string;
      readonly months: number;
      readonly oldCycleCents: bigint;
      readonly newCycleCents: bigint;
      /** When this server first pays the new price. */
      readonly renewsAt: Date;
    }[];
  };
  /** Tokens were revoked and webhooks paused, to take the account back. */
  access_revoked: {
    readonly changedAt: Date;
    readonly by: 'recovery_code' | 'reset_link' | 'password_change';
    readonly tokens: number;
    readonly webhooks: number;
    /** Absent in mails of earlier versions. */
    readonly passkeys?: number;
    readonly country: string;
  };
  /** `isLast`: further mails of this kind are held back for up to an hour. */
  token_created: {
    readonly changedAt: Date;
    readonly name: string;
    readonly scope: Scope;
    readonly expiresAt: Date | null;
    /** Created with another token, not by a signed-in person. */
    readonly byToken: boolean;
    readonly country: string;
    readonly isLast: boolean;
  };
  webhook_created: {
    readonly changedAt: Date;
    /** The public id. */
    readonly webhook: string;
    readonly url: string;
    readonly byToken: boolean;
    readonly country: string;
    readonly isLast: boolean;
  };
  /** The receiver answered 410. */
  webhook_paused: { readonly webhook: string; readonly url: string; readonly pausedAt: Date };
  topup_credited: {
    /** The public id. */
    readonly topup: string;
    readonly coin: string;
    readonly creditedCents: bigint;
    readonly bonusCents: bigint;
    readonly balanceCents: bigint;
    readonly creditedAt: Date;
  };
  /** Once per reversal. */
  topup_reversed: {
    /** The public id. */
    readonly topup: string;
    readonly coin: string;
    /** Bonus included. */
    readonly reversedCents: bigint;
    readonly balanceCents: bigint;
    readonly reversedAt: Date;
    readonly fate: ReversalFate;
    /** When the servers are suspended if the balance stays negative; null if it is not. */
    readonly suspendAt: Date | null;
  };
  /** Country only, `XX` if unknown: addresses are not stored. */
  new_sign_in: { readonly signedInAt: Date; readonly country: string };
  confirm_address: { readonly path: string; readonly expiresAt: Date };
  /** To the previous address. `undo` is null if the change itself undid an earlier one. */
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
  /** To the current address, so that a later address change does not redirect the mail. */
  password_changed: { readonly changedAt: Date; readonly country: string };
  openpgp_key_changed: {
    readonly changedAt: Date;
    /** Null: the key was removed. */
    readonly fingerprint: string | null;
    readonly country: string;
  };
  /** The second factor was turned on or off, and by whom. */
  totp_changed: {
    readonly changedAt: Date;
    readonly on: boolean;
    readonly by: 'customer' | 'recovery_code' | 'operator';
    readonly country: string;
  };
  passkey_changed: {
    readonly changedAt: Date;
    readonly name: string;
    /** Whether it was added; otherwise it was removed. */
    readonly added: boolean;
    readonly country: string;
  };
  /** To the former address of the account: pass it as `to`. */
  account_deleted: { readonly deletedAt: Date };
}
