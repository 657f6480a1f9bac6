/**
 * Turns a queued row into an outgoing mail: rendered from its template, laid out as plain text, and
 * encrypted if the customer set a key.
 */

import { formatId, parseId } from '../../kernel/ids.ts';
import type { MailThread, OutgoingMail } from '../../ports/mail.ts';
import type { MailData } from '../../spec/mails/data.ts';
import { MAILS, type MailKind } from '../../spec/mails/kinds.ts';
import { SEALED } from '../../spec/sealed.ts';
import type { MailRow } from '../../store/mails.ts';
import type { Service } from '../context.ts';
import { ticketAddress } from '../customers/tickets/mail/address.ts';
import { parseMailData } from './enqueue.ts';
import { encryptMail } from './openpgp.ts';
import { ACCOUNT_MAILS, keyUnusable } from './templates/account.ts';
import { ALERT_MAILS } from './templates/alerts.ts';
import { BILLING_MAILS } from './templates/billing.ts';
import { FLOOD_MAILS } from './templates/floods.ts';
import type { MailContent, MailPanel, MailTemplates, RenderedMail } from './templates/format.ts';
import { SECURITY_MAILS } from './templates/security.ts';
import { SERVER_MAILS } from './templates/servers.ts';
import { STAFF_MAILS } from './templates/staff.ts';

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
  const opened = service.keys.open(SEALED.mail, mail.id, mail.data_sealed).toString();
  const { baseUrl, ticketMail } = service.settings;
  const repliesByMail = recipient.openPgpKey === null ? 'plain' : 'encrypted';
  const rendered = renderStored(mail.kind, opened, { baseUrl, ...(ticketMail && { repliesByMail }) });
  const thread = threadOf(service, mail.kind, opened);
  const head = { id: formatId('mail', mail.id), to: recipient.address, ...(thread && { thread }) };
  if (recipient.openPgpKey === null) return { ...head, ...rendered, encrypted: false };
  const text = await encryptMail(rendered, recipient.openPgpKey);
  if (text === undefined) {
    // The key expired or was revoked after it was set. Never fall back to cleartext for content meant to be
    // secret.
    const plain = MAILS[mail.kind].mustBeRead ? rendered : renderKeyUnusable(service.settings);
    return { ...head, ...plain, encrypted: false };
  }
  return { ...head, ...rendered, subject: SUBJECT_OF_ENCRYPTED, text, encrypted: true };
}

function renderStored<Kind extends MailKind>(kind: Kind, opened: string, panel: MailPanel): RenderedMail {
  return renderMail(kind, parseMailData(kind, opened), panel);
}

/** The ticket that a mail is about gets the replies; undefined if tickets get no mail. */
function threadOf(
  service: Pick<Service, 'keys' | 'settings'>,
  kind: MailKind,
  opened: string,
): MailThread | undefined {
  if (kind !== 'ticket_answered' && kind !== 'ticket_opened') return undefined;
  const { ticket, lastMail }: { ticket: string; lastMail?: string } = parseMailData(kind, opened);
  const id = parseId('ticket', ticket);
  const replyTo = id === undefined ? null : ticketAddress(service, id);
  if (replyTo === null) return undefined;
  const root = `<${ticket}${replyTo.slice(replyTo.lastIndexOf('@'))}>`;
  return { replyTo, references: lastMail === undefined ? [root] : [root, lastMail] };
}

const TEMPLATES: MailTemplates = {
  ...ACCOUNT_MAILS,
  ...SECURITY_MAILS,
  ...BILLING_MAILS,
  ...SERVER_MAILS,
  ...FLOOD_MAILS,
  ...ALERT_MAILS,
  ...STAFF_MAILS,
};

export function renderMail<Kind extends MailKind>(
  kind: Kind,
  data: MailData[Kind],
  panel: MailPanel,
): RenderedMail {
  return layoutMail(TEMPLATES[kind](data, panel), panel);
}

/** Renders the notice that replaces a mail that cannot be encrypted. */
export function renderKeyUnusable(panel: MailPanel): RenderedMail {
  return layoutMail(keyUnusable(panel), panel);
}

const LINE_CHARS = 72;

/** Lays out paragraphs as plain text in lines of at most 72 characters. Links are never broken. */
function layoutMail(content: MailContent, panel: MailPanel): RenderedMail {
  const { subject, paragraphs, why = [WHY], unsubscribeUrl } = content;
  const body = paragraphs.map((paragraph) => paragraph.split('\n').map(wrap).join('\n')).join('\n\n');
  // "-- " on its own line marks a signature for mail clients.
  const footer = ['-- ', `${panel.baseUrl}/`, ...why.map(wrap)].join('\n');
  return {
    subject: subject.replace(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, ' '),
    text: `${body}\n\n${footer}\n`,
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  };
}

const WHY =
  'This email is about your account at the website above. We write only about changes to your account.';

function wrap(line: string): string {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const longer = current === '' ? word : `${current} ${word}`;
    if (current !== '' && [...longer].length > LINE_CHARS) {
      lines.push(current);
      current = word;
    } else {
      current = longer;
    }
  }
  return [...lines, current].join('\n');
}
