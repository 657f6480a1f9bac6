/** Mail that a mail server hands over, and the answers it gets. */

/** Nothing in a mail is trusted: anyone can write any header. */
export interface MailHeaders {
  /** All headers, top first; names are in lowercase. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
  /** The addresses in all From headers. */
  readonly from: readonly string[];
  /** Decoded; may be empty. */
  readonly subject: string;
}

export interface MailBody {
  /** The text for people, of HTML if there is no other; may be empty. */
  readonly text: string;
  readonly files: readonly IncomingFile[];
}

export interface IncomingFile {
  /** As the sender calls it; may be empty. */
  readonly name: string;
  /** Claimed by the sender. */
  readonly type: string;
  readonly content: Buffer;
}

/** The bytes are no mail that can be read, now or later. */
export class UnreadableMail extends Error {}

/** Both reject with `UnreadableMail`, or with another error if the mail may be readable later. */
export interface MailParser {
  /** Costs little for any mail. */
  readHeaders(bytes: Buffer): Promise<MailHeaders>;
  readBody(bytes: Buffer): Promise<MailBody>;
}

export interface Delivery {
  readonly bytes: Buffer;
  /** Of the envelope; empty: the null sender. */
  readonly sender: string;
  /** Of the envelope. */
  readonly recipients: readonly string[];
}

/** `later`: the mail server tries again. `status` is an enhanced status code (RFC 3463). ASCII only. */
export interface MailAnswer {
  readonly outcome: 'accepted' | 'later' | 'refused';
  readonly status: string;
  readonly text: string;
}
