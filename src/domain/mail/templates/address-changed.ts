import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function addressChanged(
  { changedAt, undo }: MailData['address_changed'],
  panel: MailPanel,
): MailContent {
  return {
    subject: 'The e-mail address of your account was changed',
    paragraphs: [
      `At ${formatUtc(changedAt)} the e-mail address of your account was changed to another one` +
        `${undo ? '' : ': to the one that it had before, by a link that was mailed there'}. This address no longer signs in.`,
      'If this was you, there is nothing to do.',
      ...(undo
        ? [
            'If it was not you, this link takes the change back and lets you set a new password:',
            panelLink(panel, undo.path),
            `It works once, until ${formatUtc(undo.expiresAt)}.`,
          ]
        : [
            'If it was not you, set a new password with your recovery code and the address that the account has now:',
            panelLink(panel, PANEL_PATHS.signIn),
          ]),
    ],
  };
}
