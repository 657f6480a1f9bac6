import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  CreatedWebhook,
  CreateWebhook,
  EndRotation,
  ListQuery,
  RotatedWebhook,
  UpdateWebhook,
  Webhook,
  WebhookDelivery,
} from '../types.ts';
import { byId, Resource } from './resource.ts';

/** Subscriptions to events (SPEC "Webhook subscription"). Check deliveries with `verifyWebhook`. */
export class Webhooks extends Resource {
  list(query: ListQuery<'webhooks.list'> = {}, options?: CallOptions): Pages<Webhook> {
    return this.pages(query, options, (api, params) => api.GET('/webhooks', { params }));
  }

  /** `secret` in the response is shown only once. */
  create(body: CreateWebhook, options?: CallOptions): Promise<CreatedWebhook> {
    return this.transport.run((api) => api.POST('/webhooks', { body }), options);
  }

  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.transport.run((api) => api.GET('/webhooks/{id}', byId(id)), options);
  }

  /** `events` are replaced as a whole; `active: false` pauses the webhook. */
  update(id: string, body: UpdateWebhook, options?: CallOptions): Promise<Webhook> {
    return this.transport.run((api) => api.PATCH('/webhooks/{id}', { ...byId(id), body }), options);
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.remove((api) => api.DELETE('/webhooks/{id}', byId(id)), options);
  }

  /** `next_secret` in the response is shown only once. It signs, too, until `endRotation`. */
  rotateSecret(id: string, options?: CallOptions): Promise<RotatedWebhook> {
    return this.transport.run((api) => api.POST('/webhooks/{id}/rotate-secret', byId(id)), options);
  }

  /** Keeps the next secret, or with `keep: 'current'` the current one. */
  endRotation(id: string, body: EndRotation = {}, options?: CallOptions): Promise<Webhook> {
    return this.transport.run(
      (api) => api.POST('/webhooks/{id}/end-rotation', { ...byId(id), body }),
      options,
    );
  }

  /** Sends a `ping`. */
  test(id: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.transport.run((api) => api.POST('/webhooks/{id}/test', byId(id)), options);
  }
}

/** Deliveries to a webhook in the last seven days. */
export class Deliveries extends Resource {
  list(
    webhook: string,
    query: ListQuery<'deliveries.list'> = {},
    options?: CallOptions,
  ): Pages<WebhookDelivery> {
    return this.pages(query, options, (api, { query: asked }) =>
      api.GET('/webhooks/{id}/deliveries', { params: { path: { id: webhook }, query: asked } }),
    );
  }

  /** Sends the same event again, as a new delivery. */
  replay(webhook: string, delivery: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.transport.run(
      (api) =>
        api.POST('/webhooks/{id}/deliveries/{delivery_id}/replay', {
          params: { path: { id: webhook, delivery_id: delivery } },
        }),
      options,
    );
  }
}
