import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { link, type Panel, utc, type Written } from './words.ts';

export function addressChanged({ changedAt, undo }: MailData['address_changed'], panel: Panel): Written {
  return {
    subject: 'The e-mail address of your account was changed',
    paragraphs: [
      `At ${utc(changedAt)} the e-mail address of your account was changed to another one` +
        `${undo ? '' : ': to the one that it had before, by a link that was mailed there'}. This address no longer signs in.`,
      'If this was you, there is nothing to do.',
      ...(undo
        ? [
            'If it was not you, this link takes the change back and lets you set a new password:',
            link(panel, undo.path),
            `It works once, until ${utc(undo.expiresAt)}.`,
          ]
        : [
            'If it was not you, set a new password with your recovery code and the address that the account has now:',
            link(panel, PANEL_PATHS.signIn),
          ]),
    ],
  };
}
