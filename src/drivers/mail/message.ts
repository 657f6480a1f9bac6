/** A mail as bytes (RFC 5322): plain text, or PGP/MIME (RFC 3156) around what was encrypted already. */
import MimeNode from 'nodemailer/lib/mime-node';
import type { Sender } from '../../kernel/smtp-url.ts';
import type { OutgoingMail } from '../../ports/mail.ts';

/** The parts of an encrypted mail are text already; the library would encode them once more. */
const SEVEN_BIT = { 'content-transfer-encoding': '7bit' };

/** Headers are encoded and folded by the library, which lets no line end of theirs through. */
export async function messageBytes(mail: OutgoingMail, from: Sender, date: Date): Promise<Buffer> {
  const root = mail.encrypted ? encryptedNode(mail.text) : plainNode(mail.text);
  root.setHeader({
    from: { name: from.name, address: from.address },
    to: { name: '', address: mail.to },
    subject: mail.subject,
    'message-id': `<${mail.id}@${from.domain}>`,
    date: date.toUTCString().replace('GMT', '+0000'),
    // Neither out-of-office notes nor other machines should answer.
    'auto-submitted': 'auto-generated',
  });
  return await root.build();
}

function plainNode(text: string): MimeNode {
  return new MimeNode('text/plain; charset=utf-8').setContent(toCrlf(text));
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
