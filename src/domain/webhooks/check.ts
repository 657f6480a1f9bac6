import { invalid } from '../../kernel/fail.ts';
import type { CreateWebhook } from '../../spec/schemas/webhook.ts';
import type { Service } from '../context.ts';
import { requireWebhookUrl } from './url.ts';

/** What a schema cannot say of the fields that a subscription is made or changed with. */
export function checkWebhook(service: Service, wanted: Partial<Pick<CreateWebhook, 'url' | 'events'>>): void {
  const { url, events = [] } = wanted;
  const star = events.indexOf('*');
  if (star >= 0 && events.length > 1) {
    invalid([{ field: `events.${star}`, issue: 'invalid_value' }], '"*" stands alone: it means all events.');
  }
  if (url !== undefined) {
    requireWebhookUrl(url, { allowLoopback: service.settings.webhookAllowLoopback });
  }
}
