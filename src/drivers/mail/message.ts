/** Renders a mail as bytes (RFC 5322): plain text, or PGP/MIME (RFC 3156) around encrypted text. */
import MimeNode from 'nodemailer/lib/mime-node';
import type { Sender } from '../../kernel/settings/smtp-url.ts';
import type { OutgoingMail } from '../../ports/mail.ts';

/**
 * The parts of an encrypted mail are already ASCII; without this header the library would encode them again.
 */
const SEVEN_BIT = { 'content-transfer-encoding': '7bit' };

/** The library encodes and folds headers, and lets no line break in them through. */
export async function messageBytes(mail: OutgoingMail, from: Sender, date: Date): Promise<Buffer> {
  const root = mail.encrypted
    ? encryptedNode(mail.text)
    : new MimeNode('text/plain; charset=utf-8').setContent(toCrlf(mail.text));
  root.setHeader({
    from: { name: from.name, address: from.address },
    to: { name: '', address: mail.to },
    subject: mail.subject,
    'message-id': `<${mail.id}@${from.domain}>`,
    date: date.toUTCString().replace('GMT', '+0000'),
    // Keeps out-of-office replies and other automatic responses away.
    'auto-submitted': 'auto-generated',
    ...(mail.unsubscribeUrl !== undefined && {
      'list-unsubscribe': `<${mail.unsubscribeUrl}>`,
      'list-unsubscribe-post': 'List-Unsubscribe=One-Click',
    }),
  });
  if (mail.thread) {
    const { replyTo, references } = mail.thread;
    root.setHeader({
      'reply-to': { name: from.name, address: replyTo },
      'in-reply-to': references.at(-1) ?? '',
      references: references.join(' '),
    });
  }
  return await root.build();
}

function encryptedNode(armored: string): MimeNode {
  const root = new MimeNode('multipart/encrypted; protocol="application/pgp-encrypted"');
  root.createChild('application/pgp-encrypted').setHeader(SEVEN_BIT).setContent('Version: 1\r\n');
  root
    .createChild('application/octet-stream; name="encrypted.asc"')
    .setHeader({ ...SEVEN_BIT, 'content-disposition': 'inline; filename="encrypted.asc"' })
    .setContent(toCrlf(armored));
  return root;
}

function toCrlf(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}
