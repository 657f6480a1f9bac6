import type { MailData } from '../../../spec/mails.ts';
import { accountLink, country, type Panel, utc, type Written } from './words.ts';

export function newSignIn(data: MailData['new_sign_in'], panel: Panel): Written {
  return {
    subject: 'New sign-in to your account',
    paragraphs: [
      `Somebody signed in to your account at ${utc(data.signedInAt)}, from ${country(data.country)}.`,
      'If this was you, there is nothing to do.',
      'If it was not, change your password now. That ends all other sessions:',
      accountLink(panel),
    ],
  };
}
