import type { MailData } from '../../../spec/mails.ts';
import { LINK_PATHS } from '../../../spec/paths.ts';
import { countryName, formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function passwordChanged(data: MailData['password_changed'], panel: MailPanel): MailContent {
  return {
    subject: 'The password of your account was changed',
    paragraphs: [
      `The password of your account was changed at ${formatUtc(data.changedAt)}, from ${countryName(data.country)}. All other sessions were ended.`,
      'If this was you, there is nothing to do.',
      'If it was not, set a new one now, by a link to this address or with your recovery code:',
      panelLink(panel, LINK_PATHS.reset),
    ],
  };
}
