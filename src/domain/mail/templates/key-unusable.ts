import { accountLink, type MailContent, type MailPanel } from './format.ts';

/** Instead of a mail that was to be encrypted and cannot be: it says nothing of what the mail says. */
export function keyUnusable(panel: MailPanel): MailContent {
  return {
    subject: 'A message that we could not encrypt',
    paragraphs: [
      'Something happened in your account. We do not write what, because your mails are to be encrypted and your OpenPGP key ' +
        'can no longer be used: it has expired, or was revoked.',
      'Sign in to see what there is, and give us a new key, or remove the old one:',
      accountLink(panel),
    ],
  };
}
