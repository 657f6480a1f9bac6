import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function confirmAddress(data: MailData['confirm_address'], panel: MailPanel): MailContent {
  return {
    subject: 'Confirm your email address',
    paragraphs: [
      `Someone entered this email address for an account at ${new URL(panel.baseUrl).host}. To confirm ` +
        'that it is yours, open this link:',
      panelLink(panel, data.path),
      `The link works once and expires at ${formatUtc(data.expiresAt)}.`,
      "If you didn't expect this email, you can ignore it: someone probably mistyped their address.",
    ],
  };
}
