import { LIMITS } from '../../../spec/limits.ts';
import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel } from './format.ts';

export function accountDeleted(data: MailData['account_deleted'], _panel: MailPanel): MailContent {
  return {
    subject: 'Your account was deleted',
    paragraphs: [
      `Your account was deleted at ${formatUtc(data.deletedAt)}, including its servers, volumes, ` +
        'snapshots, images, keys, and tokens. This is the last email about it, and we no longer store this ' +
        'address.',
      'We keep the amounts and times of your payments, without anything that identifies you. Each ' +
        `entry of the audit log is deleted after ${LIMITS.auditRetentionDays} days.`,
    ],
  };
}
