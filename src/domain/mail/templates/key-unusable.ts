import { accountLink, type MailContent, type MailPanel } from './format.ts';

/** Replaces a mail that cannot be encrypted. Reveals nothing about its content. */
export function keyUnusable(panel: MailPanel): MailContent {
  return {
    subject: 'A message that we could not encrypt',
    paragraphs: [
      "There is news about your account. We can't include it in this email because we can no longer " +
        'encrypt to your OpenPGP key: it has expired or was revoked.',
      'Sign in to see the news. Then set a new key or remove the old one in your account settings:',
      accountLink(panel),
    ],
  };
}
