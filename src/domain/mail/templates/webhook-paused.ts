import type { MailData } from '../../../spec/mails.ts';
import { type Panel, said, utc, type Written } from './words.ts';

const URL_MAX_CHARS = 300;

export function webhookPaused(data: MailData['webhook_paused'], _panel: Panel): Written {
  return {
    subject: 'A webhook was paused',
    paragraphs: [
      `Your webhook ${said(data.webhook)} was paused at ${utc(data.pausedAt)}, because its receiver answered 410 (gone):`,
      said(data.url, URL_MAX_CHARS),
      'Deliveries that were waiting are cancelled, and new events are not sent to it.',
      `If the receiver is to hear of events again, set "active" to true: PATCH /v1/webhooks/${said(data.webhook)}. If it is ` +
        'gone for good, delete the webhook.',
    ],
  };
}
