import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS } from '../../../spec/paths.ts';
import { formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function addressChanged(
  { changedAt, undo }: MailData['address_changed'],
  panel: MailPanel,
): MailContent {
  return {
    subject: undo
      ? "Your account's email address was changed"
      : "A change of your account's email address was undone",
    paragraphs: [
      undo
        ? `Your account's email address was changed at ${formatUtc(changedAt)}. You can no longer sign in ` +
          'with this address.'
        : `The change to this address was undone at ${formatUtc(changedAt)}, from the account's previous ` +
          'address. The account uses the previous address again. You can no longer sign in with this ' +
          'address.',
      "If this was you, you don't need to do anything.",
      ...(undo
        ? [
            "If this wasn't you, open this link to undo the change and set a new password:",
            panelLink(panel, undo.path),
            `The link works once and expires at ${formatUtc(undo.expiresAt)}.`,
          ]
        : [
            "If this wasn't you, set a new password with your recovery code and the account's current " +
              'email address:',
            panelLink(panel, PANEL_PATHS.recover),
          ]),
    ],
  };
}
