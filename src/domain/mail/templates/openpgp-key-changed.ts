import type { MailData } from '../../../spec/mails.ts';
import { LINK_PATHS } from '../../../spec/paths.ts';
import {
  accountLink,
  countryName,
  formatUtc,
  type MailContent,
  type MailPanel,
  panelLink,
} from './format.ts';

export function openPgpKeyChanged(data: MailData['openpgp_key_changed'], panel: MailPanel): MailContent {
  const { fingerprint } = data;
  const at = `${formatUtc(data.changedAt)}, from ${countryName(data.country)}`;
  return {
    subject: `The OpenPGP key of your account was ${fingerprint === null ? 'removed' : 'set'}`,
    paragraphs: [
      ...(fingerprint === null
        ? [`The OpenPGP key of your account was removed at ${at}. Mails to you are no longer encrypted.`]
        : [
            `An OpenPGP key was set for your account at ${at}. Mails to you are encrypted to it. Its fingerprint:`,
            fingerprint,
          ]),
      'If this was you, there is nothing to do.',
      'If it was not, somebody knows your password. Set a new one now, by a link to this address or with your recovery code:',
      panelLink(panel, LINK_PATHS.reset),
      'Then remove the key, or set your own:',
      accountLink(panel),
    ],
  };
}
