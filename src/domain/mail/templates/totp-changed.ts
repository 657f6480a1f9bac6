import type { MailData } from '../../../spec/mails.ts';
import { LINK_PATHS, PANEL_PATHS } from '../../../spec/paths.ts';
import { countryName, formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function totpChanged(data: MailData['totp_changed'], panel: MailPanel): MailContent {
  const at = `at ${formatUtc(data.changedAt)}`;
  return data.on ? enabledMail(data, at, panel) : disabledMail(data, at, panel);
}

function enabledMail(data: MailData['totp_changed'], at: string, panel: MailPanel): MailContent {
  return {
    subject: 'One-time codes were turned on for your account',
    paragraphs: [
      `One-time codes were turned on for your account ${at} from ${countryName(data.country)}. Signing ` +
        'in and resetting your password by link now require a code.',
      'If this was you, keep your recovery code in a safe place away from your phone. You need it to ' +
        'get in if you lose the phone.',
      "If this wasn't you, someone knows your password. Reset it with your recovery code, which also " +
        'turns off one-time codes:',
      panelLink(panel, PANEL_PATHS.recover),
    ],
  };
}

function disabledMail(data: MailData['totp_changed'], at: string, panel: MailPanel): MailContent {
  const from = `from ${countryName(data.country)}`;
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
}
