import type { MailData } from '../../../spec/mails.ts';
import { type Panel, utc, type Written } from './words.ts';

export function accountDeleted(data: MailData['account_deleted'], _panel: Panel): Written {
  return {
    subject: 'Your account was deleted',
    paragraphs: [
      `Your account was deleted at ${utc(data.deletedAt)}, with its servers, volumes, snapshots, keys and tokens. This is ` +
        'the last mail about it, and this address is forgotten.',
      'What the books must keep names amounts and times, and no person.',
    ],
  };
}
