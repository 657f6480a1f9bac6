import type { MailData } from '../../../spec/mails.ts';
import { link, type Panel, utc, type Written } from './words.ts';

export function confirmAddress(data: MailData['confirm_address'], panel: Panel): Written {
  return {
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'This address was given for an account with us. To confirm that it is yours, open:',
      link(panel, data.path),
      `The link works once, until ${utc(data.expiresAt)}.`,
      'If you know nothing of this, somebody mistyped an address. Do not open the link, and nothing happens.',
    ],
  };
}
