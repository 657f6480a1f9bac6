import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel } from './format.ts';

export function accountDeleted(data: MailData['account_deleted'], _panel: MailPanel): MailContent {
  return {
    subject: 'Your account was deleted',
    paragraphs: [
      `Your account was deleted at ${formatUtc(data.deletedAt)}, including its servers, volumes, ` +
        'snapshots, keys, and tokens. This is the last email about it, and we no longer store this ' +
        'address.',
      'The accounting records that we must keep contain amounts and times only, and nothing that ' +
        'identifies you.',
    ],
  };
}
