/** Mail about access to the account: sign-ins, passwords, keys, and one-time codes. */
import { LINK_PATHS, PANEL_PATHS } from '../../../spec/paths.ts';
import { accountLink, countryName, formatUtc, type MailTemplates, panelLink } from './format.ts';

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
} satisfies Partial<MailTemplates>;
