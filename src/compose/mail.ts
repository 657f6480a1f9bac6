import type { Config } from '../config.ts';
import { SmtpMailer } from '../drivers/mail/smtp.ts';
import { parseSender, parseSmtpUrl } from '../kernel/smtp-url.ts';
import type { Mailer } from '../ports/mail.ts';

/** Returns null if mail is not configured. loadConfig has validated both settings. */
export function createMailer(config: Config): Mailer | null {
  const server = parseSmtpUrl(config.SKERRY_SMTP_URL ?? '');
  const from = parseSender(config.SKERRY_MAIL_FROM ?? '');
  return server && from ? new SmtpMailer({ server, from }) : null;
}
