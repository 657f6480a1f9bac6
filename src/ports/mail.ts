/** Who takes mails from us: a mail server, or the sandbox's letter box. */

/** A mail as it leaves the house. */
export interface OutgoingMail {
  /** The shown id (`mail_…`), the same on every attempt: it is the name of its Message-ID. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  /** Plain text, lines ending in `\n`; or, when encrypted, an armored OpenPGP message around a MIME part. */
  readonly text: string;
  readonly encrypted: boolean;
}

/**
 * What became of it. `unreachable`: nobody takes mail from us at the moment. `deferred`: this one was not taken now.
 * `refused`: it never will be. `unknown`: it was given away and no answer came. `taken`: `handOver` said no.
 * `detail` is for the log and names no address.
 */
export type MailOutcome =
  | { readonly outcome: 'sent' | 'taken' }
  | { readonly outcome: 'unreachable' | 'deferred' | 'refused' | 'unknown'; readonly detail: string };

export interface Mailer {
  /**
   * Sends one mail; answers for every failure. It calls `handOver` before the first byte after which it could not say
   * whether the mail was sent, and sends nothing when the answer is false. One that knows a mail again by its id need not.
   */
  send(mail: OutgoingMail, confirmHandover: () => Promise<boolean>): Promise<MailOutcome>;
  /** Cuts short what is being sent: for the end of the process. */
  close(): void;
}
