/** Turns a queued row into an outgoing mail: rendered, and encrypted if the customer set a key. */
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

/** Reveals nothing about the content: subjects are not encrypted. */
const SUBJECT_OF_ENCRYPTED = 'A message about your account';

export interface Recipient {
  readonly address: string;
  /** Armored; null sends plain text. */
  readonly openPgpKey: string | null;
}

export async function composeMail(
  service: Pick<Service, 'keys' | 'settings'>,
  mail: MailRow,
  recipient: Recipient,
): Promise<OutgoingMail> {
  const opened = service.keys.open(MAIL_SEAL_PURPOSE, mail.data_sealed).toString();
  const rendered = renderStored(mail.kind, opened, service.settings.baseUrl);
  const head = { id: formatId('mail', mail.id), to: recipient.address };
  if (recipient.openPgpKey === null) return { ...head, ...rendered, encrypted: false };
  const text = await encryptMail(rendered, recipient.openPgpKey);
  if (text === undefined) {
    // The key expired or was revoked after it was set. Never fall back to cleartext for content meant to be
    // secret.
    const plain = MAILS[mail.kind].mustBeRead ? rendered : renderKeyUnusable(service.settings);
    return { ...head, ...plain, encrypted: false };
  }
  return { ...head, subject: SUBJECT_OF_ENCRYPTED, text, encrypted: true };
}

function renderStored<Kind extends MailKind>(kind: Kind, opened: string, baseUrl: string): RenderedMail {
  return renderMail(kind, parseMailData(kind, opened), { baseUrl });
}
