import type { MailData } from '../../../spec/mails.ts';
import { countryName, formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function resetPassword(data: MailData['reset_password'], panel: MailPanel): MailContent {
  return {
    subject: 'Set a new password',
    paragraphs: [
      `A new password for your account was asked for at ${formatUtc(data.requestedAt)}, from ${countryName(data.country)}. To set ` +
        'one, open:',
      panelLink(panel, data.path),
      `The link works once, until ${formatUtc(data.expiresAt)}. Setting a new password ends all sessions.`,
      'If you did not ask for this, there is nothing to do: your password stays as it is.',
    ],
  };
}
