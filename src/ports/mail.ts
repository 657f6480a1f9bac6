/** Sends mail: to a mail server, or to the sandbox's outbox. */

/** An outgoing mail. */
export interface OutgoingMail {
  /** The public id (`mail_…`), the same on every attempt; the Message-ID contains it. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  /** Plain text, lines ending in `\n`; or, when encrypted, an armored OpenPGP message around a MIME part. */
  readonly text: string;
  readonly encrypted: boolean;
  /** Where replies go, and the conversation that it belongs to. */
  readonly thread?: MailThread;
  /** Where one POST ends further mails of this kind (RFC 8058); absent: the customer cannot end them. */
  readonly unsubscribeUrl?: string;
}

export interface MailThread {
  readonly replyTo: string;
  /** Message-IDs with their brackets, oldest first. The first one stands for the conversation. */
  readonly references: readonly string[];
}

/**
 * The result of an attempt. `unreachable`: the server accepts no mail from us at the moment. `deferred`: it
 * didn't accept this mail now. `refused`: it never will. `unknown`: the mail was handed over and no response
 * came. `taken`: `confirmHandover` returned false. `detail` is for the log and contains no address.
 */
export type MailOutcome =
  | { readonly outcome: 'sent' | 'taken' }
  | { readonly outcome: 'unreachable' | 'deferred' | 'refused' | 'unknown'; readonly detail: string };

export interface Mailer {
  /**
   * Sends one mail and never rejects. Calls `confirmHandover` before the first byte after which the outcome
   * could be unclear, and sends nothing if it returns false. A mailer that deduplicates by id doesn't need to
   * call it.
   */
  send(mail: OutgoingMail, confirmHandover: () => Promise<boolean>): Promise<MailOutcome>;
  /** Aborts mails in transit when the process shuts down. */
  close(): void;
}
