/** From a row of the queue to the mail that leaves the house: rendered, and encrypted where the customer gave a key. */
import { formatId } from '../../kernel/ids.ts';
import type { OutgoingMail } from '../../ports/mail.ts';
import { MAILS, type MailKind } from '../../spec/mails.ts';
import type { MailRow } from '../../store/mails.ts';
import type { Service } from '../context.ts';
import { parseMailData } from './data.ts';
import { MAIL_SEAL_PURPOSE } from './enqueue.ts';
import type { RenderedMail } from './layout.ts';
import { encryptMail } from './openpgp.ts';
import { renderKeyUnusable, renderMail } from './render.ts';

/** Says nothing of what the mail is about: subjects are not encrypted. */
const SUBJECT_OF_ENCRYPTED = 'A message about your account';

export interface Recipient {
  readonly address: string;
  /** Armored; null: mails go out as plain text. */
  readonly openPgpKey: string | null;
}

export async function composeMail(
  service: Pick<Service, 'keys' | 'settings'>,
  mail: MailRow,
  receiver: Recipient,
): Promise<OutgoingMail> {
  const opened = service.keys.open(MAIL_SEAL_PURPOSE, mail.data_sealed).toString();
  const rendered = renderStored(mail.kind, opened, service.settings.baseUrl);
  const head = { id: formatId('mail', mail.id), to: receiver.address };
  if (receiver.openPgpKey === null) return { ...head, ...rendered, encrypted: false };
  const text = await encryptMail(rendered, receiver.openPgpKey);
  if (text === undefined) {
    // A key that served when it was given may serve no more. What was to be secret is not sent in the clear then.
    const plain = MAILS[mail.kind].mustBeRead ? rendered : renderKeyUnusable(service.settings);
    return { ...head, ...plain, encrypted: false };
  }
  return { ...head, subject: SUBJECT_OF_ENCRYPTED, text, encrypted: true };
}

function renderStored<Kind extends MailKind>(kind: Kind, opened: string, baseUrl: string): RenderedMail {
  return renderMail(kind, parseMailData(kind, opened), { baseUrl });
}
