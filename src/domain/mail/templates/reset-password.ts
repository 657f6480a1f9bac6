import type { MailData } from '../../../spec/mails.ts';
import { country, link, type Panel, utc, type Written } from './words.ts';

export function resetPassword(data: MailData['reset_password'], panel: Panel): Written {
  return {
    subject: 'Set a new password',
    paragraphs: [
      `A new password for your account was asked for at ${utc(data.requestedAt)}, from ${country(data.country)}. To set ` +
        'one, open:',
      link(panel, data.path),
      `The link works once, until ${utc(data.expiresAt)}. Setting a new password ends all sessions.`,
      'If you did not ask for this, there is nothing to do: your password stays as it is.',
    ],
  };
}
