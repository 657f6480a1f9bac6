import type { MailData } from '../../../spec/mails.ts';
import { accountLink, countryName, formatUtc, type MailContent, type MailPanel } from './format.ts';

export function newSignIn(data: MailData['new_sign_in'], panel: MailPanel): MailContent {
  return {
    subject: 'New sign-in to your account',
    paragraphs: [
      `Someone signed in to your account at ${formatUtc(data.signedInAt)} from ${countryName(data.country)}.`,
      "If this was you, you don't need to do anything.",
      "If this wasn't you, change your password now. This signs out all other sessions:",
      accountLink(panel),
    ],
  };
}
