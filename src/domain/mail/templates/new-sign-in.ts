import type { MailData } from '../../../spec/mails.ts';
import { accountLink, countryName, formatUtc, type MailContent, type MailPanel } from './format.ts';

export function newSignIn(data: MailData['new_sign_in'], panel: MailPanel): MailContent {
  return {
    subject: 'New sign-in to your account',
    paragraphs: [
      `Somebody signed in to your account at ${formatUtc(data.signedInAt)}, from ${countryName(data.country)}.`,
      'If this was you, there is nothing to do.',
      'If it was not, change your password now. That ends all other sessions:',
      accountLink(panel),
    ],
  };
}
