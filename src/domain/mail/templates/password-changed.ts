import type { MailData } from '../../../spec/mails.ts';
import { LINK_PATHS } from '../../../spec/paths.ts';
import { countryName, formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function passwordChanged(data: MailData['password_changed'], panel: MailPanel): MailContent {
  return {
    subject: "Your account's password was changed",
    paragraphs: [
      `Your account's password was changed at ${formatUtc(data.changedAt)} from ` +
        `${countryName(data.country)}. All other sessions were signed out.`,
      "If this was you, you don't need to do anything.",
      "If this wasn't you, reset it now. You need your recovery code, or a link that we send to this " +
        'address:',
      panelLink(panel, LINK_PATHS.reset),
    ],
  };
}
