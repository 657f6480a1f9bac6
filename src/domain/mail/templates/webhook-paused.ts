import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel, sanitizeLine } from './format.ts';

const URL_MAX_CHARS = 300;

export function webhookPaused(data: MailData['webhook_paused'], _panel: MailPanel): MailContent {
  return {
    subject: 'A webhook was paused',
    paragraphs: [
      `Your webhook ${sanitizeLine(data.webhook)} was paused at ${formatUtc(data.pausedAt)}, because its receiver answered 410 (gone):`,
      sanitizeLine(data.url, URL_MAX_CHARS),
      'Deliveries that were waiting are cancelled, and new events are not sent to it.',
      `If the receiver is to hear of events again, set "active" to true: PATCH /v1/webhooks/${sanitizeLine(data.webhook)}. If it is ` +
        'gone for good, delete the webhook.',
    ],
  };
}
