import type { MailData } from '../../../spec/mails.ts';
import { PANEL_PATHS, resourcePath } from '../../../spec/paths.ts';
import { formatUtc, type MailContent, type MailPanel, panelLink, sanitizeLine } from './format.ts';

const URL_MAX_CHARS = 300;

export function webhookPaused(data: MailData['webhook_paused'], panel: MailPanel): MailContent {
  return {
    subject: 'Your webhook was paused',
    paragraphs: [
      `We paused your webhook ${sanitizeLine(data.webhook)} at ${formatUtc(data.pausedAt)} because its ` +
        'endpoint returned 410 (Gone). The endpoint:',
      sanitizeLine(data.url, URL_MAX_CHARS),
      'Pending deliveries were canceled, and new events are not sent to it.',
      'To receive events again, make the webhook active here, or set "active" to true with the API. If the ' +
        'endpoint is permanently gone, delete the webhook:',
      panelLink(panel, resourcePath(PANEL_PATHS.webhooks, sanitizeLine(data.webhook))),
    ],
  };
}
