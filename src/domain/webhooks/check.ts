import type { CreateWebhook } from '../../spec/schemas/webhook.ts';
import type { Service } from '../context.ts';
import { requireWebhookUrl } from './url.ts';

type Wanted = Partial<Pick<CreateWebhook, 'url' | 'events'>>;

/** Checks fields that a schema cannot express, and removes duplicate events. */
export function normalizeWebhook<const Body extends Wanted>(service: Service, wanted: Body): Body {
  const { url, events } = wanted;
  if (url !== undefined) {
    requireWebhookUrl(url, { allowLoopback: service.settings.webhookAllowLoopback });
  }
  return events === undefined ? wanted : { ...wanted, events: [...new Set(events)] };
}
