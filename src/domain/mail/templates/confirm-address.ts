import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function confirmAddress(data: MailData['confirm_address'], panel: MailPanel): MailContent {
  return {
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'This address was given for an account with us. To confirm that it is yours, open:',
      panelLink(panel, data.path),
      `The link works once, until ${formatUtc(data.expiresAt)}.`,
      'If you know nothing of this, somebody mistyped an address. Do not open the link, and nothing happens.',
    ],
  };
}
