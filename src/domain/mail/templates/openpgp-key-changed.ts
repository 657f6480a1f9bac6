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
}
