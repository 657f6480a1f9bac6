import type { MailData } from '../../../spec/mails.ts';
import { accountLink, link, type Panel, utc, type Written } from './words.ts';

export function addressChanged(data: MailData['address_changed'], panel: Panel): Written {
  const undo = data.undo
    ? [
        'If it was not you, this link takes the change back and lets you set a new password:',
        link(panel, data.undo.path),
        `It works once, until ${utc(data.undo.expiresAt)}.`,
      ]
    : ['If it was not you, use your recovery code to set a new password:', accountLink(panel)];
  return {
    subject: 'The e-mail address of your account was changed',
    paragraphs: [
      `At ${utc(data.changedAt)} the e-mail address of your account was changed to another one. This address no longer ` +
        'signs in.',
      'If this was you, there is nothing to do.',
      ...undo,
    ],
  };
}
