/** Mail about access to the account: sign-ins, passwords, keys, and one-time codes. */
import { ACCOUNT_PATHS, LINK_PATHS, PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import {
  accountLink,
  countryName,
  formatCount,
  formatUtc,
  type MailPanel,
  type MailTemplates,
  panelLink,
  sanitizeLine,
  URL_MAX_CHARS,
} from './format.ts';

export const SECURITY_MAILS = {
  new_sign_in: (data, panel) => ({
    subject: 'New sign-in to your account',
    paragraphs: [
      `Someone signed in to your account at ${formatUtc(data.signedInAt)} from ${countryName(data.country)}.`,
      "If this was you, you don't need to do anything.",
      "If this wasn't you, change your password now. This signs out all other sessions:",
      accountLink(panel),
    ],
  }),

  reset_password: (data, panel) => ({
    subject: 'Reset your password',
    paragraphs: [
      `Someone requested a password reset for your account at ${formatUtc(data.requestedAt)} from ` +
        `${countryName(data.country)}. To set a new password, open this link:`,
      panelLink(panel, data.path),
      `The link works once and expires at ${formatUtc(data.expiresAt)}. Setting a new password signs out ` +
        'all sessions.',
      "If you didn't request this, you can ignore this email. Your password stays the same.",
    ],
  }),

  password_changed: (data, panel) => ({
    subject: "Your account's password was changed",
    paragraphs: [
      `Your account's password was changed at ${formatUtc(data.changedAt)} from ` +
        `${countryName(data.country)}. All other sessions were signed out.`,
      "If this was you, you don't need to do anything.",
      "If this wasn't you, reset it now. You need your recovery code, or a link that we send to this " +
        'address:',
      panelLink(panel, LINK_PATHS.reset),
    ],
  }),

  openpgp_key_changed(data, panel) {
    const { fingerprint } = data;
    const at = `${formatUtc(data.changedAt)} from ${countryName(data.country)}`;
    return {
      subject: `Your account's OpenPGP key was ${fingerprint === null ? 'removed' : 'set'}`,
      paragraphs: [
        ...(fingerprint === null
          ? [`Your account's OpenPGP key was removed at ${at}. We no longer encrypt email to you.`]
          : [
              `An OpenPGP key was set for your account at ${at}. We now encrypt email to you with it. Its ` +
                'fingerprint:',
              fingerprint,
            ]),
        "If this was you, you don't need to do anything.",
        "If this wasn't you, someone knows your password. Reset it now. You need your recovery code" +
          (fingerprint === null
            ? ', or a link that we send to this address:'
            : ', because we encrypt reset links to the new key:'),
        panelLink(panel, LINK_PATHS.reset),
        'Then remove the key or set your own:',
        accountLink(panel),
      ],
    };
  },

  totp_changed(data, panel) {
    const at = `at ${formatUtc(data.changedAt)}`;
    const from = `from ${countryName(data.country)}`;
    if (data.on) {
      return {
        subject: 'One-time codes were turned on for your account',
        paragraphs: [
          `One-time codes were turned on for your account ${at} ${from}. Signing in and resetting your ` +
            'password by link now require a code.',
          'If this was you, keep your recovery code in a safe place away from your phone. You need it to ' +
            'get in if you lose the phone.',
          "If this wasn't you, someone knows your password. Reset it with your recovery code, which also " +
            'turns off one-time codes:',
          panelLink(panel, PANEL_PATHS.recover),
        ],
      };
    }
    const how = {
      customer: `${at} ${from}`,
      recovery_code: `${at} ${from}, by recovery code`,
      operator: `${at} by our team, after someone asked for it in your name`,
    }[data.by];
    return {
      subject: 'One-time codes were turned off for your account',
      paragraphs: [
        `One-time codes were turned off for your account ${how}. Your password is now enough to sign in.`,
        "If this was you, you don't need to do anything.",
        "If this wasn't you, reset your password now. You need your recovery code, or a link that we send " +
          'to this address:',
        panelLink(panel, LINK_PATHS.reset),
      ],
    };
  },

  passkey_changed(data, panel) {
    const at = `${formatUtc(data.changedAt)} from ${countryName(data.country)}`;
    return {
      subject: `A passkey was ${data.added ? 'added to' : 'removed from'} your account`,
      paragraphs: [
        `A passkey was ${data.added ? 'added to' : 'removed from'} your account at ${at}. Its name:`,
        sanitizeLine(data.name),
        ...(data.added ? ['It can sign in without your password.'] : []),
        "If this was you, you don't need to do anything.",
        "If this wasn't you, reset your password now. This also removes all passkeys:",
        panelLink(panel, LINK_PATHS.reset),
      ],
    };
  },

  access_revoked(data, panel) {
    const why = {
      recovery_code: 'because your account was recovered',
      reset_link: 'because your password was reset',
      password_change: 'as requested with a change of your password',
    }[data.by];
    const at = `at ${formatUtc(data.changedAt)} from ${countryName(data.country)}`;
    return {
      subject: 'API tokens were revoked and webhooks paused',
      paragraphs: [
        `We revoked ${formatCount(data.tokens, 'API token')} and paused ` +
          `${formatCount(data.webhooks, 'webhook')} of your account ${at}, ${why}. Consoles opened ` +
          'with those tokens were closed.',
        ...((data.passkeys ?? 0) > 0
          ? [
              `We also removed ${formatCount(data.passkeys ?? 0, 'passkey')}. Add yours again:`,
              passkeysLink(panel),
            ]
          : []),
        'Your programs need new tokens:',
        panelLink(panel, ACCOUNT_PATHS.tokens),
        'Check the URL of each webhook before you make it active again. Delete those that are not yours:',
        panelLink(panel, PANEL_PATHS.webhooks),
      ],
    };
  },

  token_created: (data, panel) => ({
    subject: 'An API token was created',
    paragraphs: [
      `An API token was created ${data.byToken ? 'with another API token' : 'in your account'} at ` +
        `${formatUtc(data.changedAt)} from ${countryName(data.country)}. Its name and scope:`,
      `${sanitizeLine(data.name)} (${data.scope})`,
      data.expiresAt === null ? 'It never expires.' : `It expires at ${formatUtc(data.expiresAt)}.`,
      ...heldBack(data.isLast, 'API tokens'),
      "If this was you, you don't need to do anything.",
      "If this wasn't you, revoke the token:",
      panelLink(panel, ACCOUNT_PATHS.tokens),
      ...takeBack(panel),
    ],
  }),

  webhook_created: (data, panel) => ({
    subject: 'A webhook was created',
    paragraphs: [
      `A webhook was created ${data.byToken ? 'with an API token' : 'in your account'} at ` +
        `${formatUtc(data.changedAt)} from ${countryName(data.country)}. Events of your account are sent to:`,
      sanitizeLine(data.url, URL_MAX_CHARS),
      ...heldBack(data.isLast, 'webhooks'),
      "If this was you, you don't need to do anything.",
      "If this wasn't you, delete the webhook:",
      panelLink(panel, resourcePath(PANEL_PATHS.webhooks, sanitizeLine(data.webhook))),
      ...takeBack(panel),
    ],
  }),
} satisfies Partial<MailTemplates>;

const passkeysLink = (panel: MailPanel): string => panelLink(panel, ACCOUNT_PATHS.passkeys);

/** The last mail before a pause says that it is the last. */
function heldBack(isLast: boolean, what: string): readonly string[] {
  return isLast ? [`This is the last email about new ${what} for up to an hour.`] : [];
}

function takeBack(panel: MailPanel): readonly string[] {
  const reset = panelLink(panel, LINK_PATHS.reset);
  return ['Then reset your password, which revokes all API tokens and pauses all webhooks:', reset];
}
