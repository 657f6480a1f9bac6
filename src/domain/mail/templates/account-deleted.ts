import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel } from './format.ts';

export function accountDeleted(data: MailData['account_deleted'], _panel: MailPanel): MailContent {
  return {
    subject: 'Your account was deleted',
    paragraphs: [
      `Your account was deleted at ${formatUtc(data.deletedAt)}, with its servers, volumes, snapshots, keys and tokens. This is ` +
        'the last mail about it, and this address is forgotten.',
      'What the books must keep names amounts and times, and no person.',
    ],
  };
}
