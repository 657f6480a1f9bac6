import type { MailData } from '../../../spec/mails.ts';
import { countryName, formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function resetPassword(data: MailData['reset_password'], panel: MailPanel): MailContent {
  return {
    subject: 'Reset your password',
    paragraphs: [
      `Someone requested a password reset for your account at ${formatUtc(data.requestedAt)} from ` +
        `${countryName(data.country)}. To set a new password, open this link:`,
      panelLink(panel, data.path),
      `The link works once and expires at ${formatUtc(data.expiresAt)}. Setting a new password signs out ` +
        'all sessions.',
      "If you didn't request this, you can ignore this email. Your password stays the same.",
    ],
  };
}
