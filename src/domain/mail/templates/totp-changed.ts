import type { MailData } from '../../../spec/mails.ts';
import { LINK_PATHS, PANEL_PATHS } from '../../../spec/paths.ts';
import { countryName, formatUtc, type MailContent, type MailPanel, panelLink } from './format.ts';

export function totpChanged(data: MailData['totp_changed'], panel: MailPanel): MailContent {
  const at = `at ${formatUtc(data.changedAt)}`;
  return data.on ? switchedOn(data, at, panel) : switchedOff(data, at, panel);
}

function switchedOn(data: MailData['totp_changed'], at: string, panel: MailPanel): MailContent {
  return {
    subject: 'Your account asks for one-time codes now',
    paragraphs: [
      `One-time codes were switched on for your account ${at}, from ${countryName(data.country)}. Signing in, and setting a new ` +
        'password by a link, ask for a code from now on.',
      'If this was you, keep your recovery code where your phone is not: it is the way in without the phone.',
      'If it was not, somebody knows your password. Set a new one with your recovery code: that switches the codes off, too.',
      panelLink(panel, PANEL_PATHS.signIn),
    ],
  };
}

function switchedOff(data: MailData['totp_changed'], at: string, panel: MailPanel): MailContent {
  const how = {
    customer: `were switched off for your account ${at}, from ${countryName(data.country)}`,
    recovery_code: `were switched off for your account ${at}, from ${countryName(data.country)}, by its recovery code`,
    operator: `were switched off for your account ${at} by the operator, as somebody had asked in your name`,
  }[data.by];
  return {
    subject: 'Your account asks for no one-time codes any more',
    paragraphs: [
      `One-time codes ${how}. The password alone signs in.`,
      'If this was you, there is nothing to do.',
      'If it was not, set a new password now, by a link to this address or with your recovery code:',
      panelLink(panel, LINK_PATHS.reset),
    ],
  };
}
