import type { MailData } from '../../../spec/mails.ts';
import { formatUtc, type MailContent, type MailPanel, sanitizeLine } from './format.ts';

const URL_MAX_CHARS = 300;

export function webhookPaused(data: MailData['webhook_paused'], _panel: MailPanel): MailContent {
  return {
    subject: 'Your webhook was paused',
    paragraphs: [
      `We paused your webhook ${sanitizeLine(data.webhook)} at ${formatUtc(data.pausedAt)} because its ` +
        'endpoint returned 410 (Gone):',
      sanitizeLine(data.url, URL_MAX_CHARS),
      'Pending deliveries were canceled, and new events are not sent to it.',
      `To receive events again, set "active" to true: PATCH /v1/webhooks/${sanitizeLine(data.webhook)}. ` +
        'If the endpoint is permanently gone, delete the webhook.',
    ],
  };
}
