import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { ListQuery, WebhookDelivery } from '../types.ts';
import { Resource } from './resource.ts';

/** Deliveries to a webhook in the last seven days. */
export class Deliveries extends Resource {
  list(
    webhook: string,
    query: ListQuery<'deliveries.list'> = {},
    options?: CallOptions,
  ): Pages<WebhookDelivery> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/webhooks/{id}/deliveries', { params: { path: { id: webhook }, query: asked }, ...attempt }),
    );
  }

  /** Sends the same event again, as a new delivery. */
  replay(webhook: string, delivery: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.transport.run(
      (api, attempt) =>
        api.POST('/webhooks/{id}/deliveries/{delivery_id}/replay', {
          params: { path: { id: webhook, delivery_id: delivery } },
          ...attempt,
        }),
      { ...options, post: true },
    );
  }
}
