/** Which mails are not for staff to read, and the answers that they get. */
import type { MailAnswer, MailBody, MailHeaders } from '../../../../ports/incoming-mail.ts';

/** Ends the reception of a mail with an answer. `reason` is for the log: it names no one. */
export class MailRefusal extends Error {
  readonly answer: MailAnswer;
  readonly reason: string;
  constructor(reason: string, answer: MailAnswer) {
    super(reason);
    this.answer = answer;
    this.reason = reason;
  }
}

export const ACCEPTED: MailAnswer = {
  outcome: 'accepted',
  status: '2.0.0',
  text: 'The ticket has the mail.',
};

/** Mail of programs is accepted and dropped: an answer to it could be answered again. */
const DROPPED: MailAnswer = { outcome: 'accepted', status: '2.0.0', text: 'The mail is accepted.' };

/** The same for each sender and each ticket, so that no one learns who has an account. */
const NOT_ACCEPTED: MailAnswer = {
  outcome: 'refused',
  status: '5.7.1',
  text:
    'We do not accept this mail. Write from the confirmed email address of your account, or sign in and ' +
    'write in the panel.',
};

export function refuse(reason: string): never {
  throw new MailRefusal(reason, NOT_ACCEPTED);
}

export function refuseWith(reason: string, status: string, text: string): never {
  throw new MailRefusal(reason, { outcome: 'refused', status, text });
}

export function postpone(reason: string, status: string, text: string): never {
  throw new MailRefusal(reason, { outcome: 'later', status, text });
}

const AUTOMATIC_PRECEDENCE = /^\s*(?:bulk|junk|list|auto[-_]?reply)\b/i;
/** Headers that only programs and mailing lists write. */
const AUTOMATIC_HEADERS =
  /^(?:list-(?:id|post|help|unsubscribe|subscribe|owner|archive)|x-auto-?reply|x-autorespond|x-loop)$/;

/** Drops what a program wrote: vacation notes, bounces, and mailing lists. */
export function dropAutomatic({ headers }: MailHeaders, sender: string): void {
  const isAutomatic = headers.some(
    ({ key, value }) =>
      (key === 'auto-submitted' && !/^\s*no\b/i.test(value)) ||
      (key === 'precedence' && AUTOMATIC_PRECEDENCE.test(value)) ||
      (key === 'content-type' && /^\s*multipart\/report\b/i.test(value)) ||
      AUTOMATIC_HEADERS.test(key),
  );
  const isBounce = /^(?:|<>|mailer-daemon(?:@.*)?)$/i.test(sender.trim());
  if (isAutomatic || isBounce) throw new MailRefusal('written by a program', DROPPED);
}

const ENCRYPTED = /^\s*(?:multipart\/encrypted|application\/(?:x-)?pkcs7-mime|application\/pgp-encrypted)\b/i;

/** Only the customer has a key: nothing that is encrypted for us can be read. */
export function refuseEncrypted({ headers }: MailHeaders, { text, files }: MailBody): void {
  const isEncrypted =
    headers.some(({ key, value }) => key === 'content-type' && ENCRYPTED.test(value)) ||
    files.some(({ type }) => type === 'application/pgp-encrypted') ||
    text.trimStart().startsWith('-----BEGIN PGP MESSAGE-----');
  if (!isEncrypted) return;
  refuseWith(
    'encrypted',
    '5.7.5',
    'We cannot read encrypted mail. Sign in and write in the panel, or send the mail without encryption.',
  );
}
