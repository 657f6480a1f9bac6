import type { MailData } from '../../../spec/mails.ts';
import { LINK_PATHS } from '../../../spec/paths.ts';
import { country, link, type Panel, utc, type Written } from './words.ts';

export function passwordChanged(data: MailData['password_changed'], panel: Panel): Written {
  return {
    subject: 'The password of your account was changed',
    paragraphs: [
      `The password of your account was changed at ${utc(data.changedAt)}, from ${country(data.country)}. All other sessions were ended.`,
      'If this was you, there is nothing to do.',
      'If it was not, set a new one now, by a link to this address or with your recovery code:',
      link(panel, LINK_PATHS.reset),
    ],
  };
}
