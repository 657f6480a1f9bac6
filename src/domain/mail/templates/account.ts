/** Mail about the account itself: its address, its webhooks, its end. */
import { LIMITS } from '../../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import {
  accountLink,
  formatUtc,
  type MailContent,
  type MailPanel,
  type MailTemplates,
  panelLink,
  sanitizeLine,
  URL_MAX_CHARS,
} from './format.ts';

export const ACCOUNT_MAILS = {
  confirm_address: (data, panel) => ({
    subject: 'Confirm your email address',
    paragraphs: [
      `Someone entered this email address for an account at ${new URL(panel.baseUrl).host}. To confirm ` +
        'that it is yours, open this link:',
      panelLink(panel, data.path),
      `The link works once and expires at ${formatUtc(data.expiresAt)}.`,
      "If you didn't expect this email, you can ignore it: someone probably mistyped their address.",
    ],
  }),

  address_changed: ({ changedAt, undo }, panel) => ({
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
  }),

  webhook_paused: (data, panel) => ({
    subject: 'Your webhook was paused',
    paragraphs: [
      `We paused your webhook ${sanitizeLine(data.webhook)} at ${formatUtc(data.pausedAt)} because its ` +
        'endpoint returned 410 (Gone). The endpoint:',
      sanitizeLine(data.url, URL_MAX_CHARS),
      'Pending deliveries were canceled, and new events are not sent to it.',
      'To receive events again, make the webhook active here, or set "active" to true with the API. If the ' +
        'endpoint is permanently gone, delete the webhook:',
      panelLink(panel, resourcePath(PANEL_PATHS.webhooks, sanitizeLine(data.webhook))),
    ],
  }),

  account_deleted: (data) => ({
    subject: 'Your account was deleted',
    paragraphs: [
      `Your account was deleted at ${formatUtc(data.deletedAt)}, including its servers, volumes, ` +
        'snapshots, images, keys, and tokens. This is the last email about it, and we no longer store this ' +
        'address.',
      'We keep the amounts and times of your payments, without anything that identifies you. Each ' +
        `entry of the audit log is deleted after ${LIMITS.auditRetentionDays} days.`,
    ],
  }),
} satisfies Partial<MailTemplates>;

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
