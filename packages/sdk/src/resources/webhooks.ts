import type { Pages } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type {
  CreatedWebhook,
  CreateWebhook,
  ListQuery,
  UpdateWebhook,
  Webhook,
  WebhookDelivery,
} from '../types.ts';
import { Resource } from './resource.ts';

/** Subscriptions to events (SPEC "Webhook subscription"). Check deliveries with `verifyWebhook`. */
export class Webhooks extends Resource {
  list(query: ListQuery<'webhooks.list'> = {}, options?: CallOptions): Pages<Webhook> {
    return this.pages(query, options, (api, asked, attempt) =>
      api.GET('/webhooks', { params: { query: asked }, ...attempt }),
    );
  }

  /** `secret` in the response is shown only once. */
  create(body: CreateWebhook, options?: CallOptions): Promise<CreatedWebhook> {
    return this.transport.run((api, attempt) => api.POST('/webhooks', { body, ...attempt }), {
      ...options,
      post: true,
    });
  }

  get(id: string, options?: CallOptions): Promise<Webhook> {
    return this.transport.run(
      (api, attempt) => api.GET('/webhooks/{id}', { params: { path: { id } }, ...attempt }),
      options,
    );
  }

  /** `events` are replaced as a whole; `active: false` pauses the webhook. */
  update(id: string, body: UpdateWebhook, options?: CallOptions): Promise<Webhook> {
    return this.transport.run(
      (api, attempt) => api.PATCH('/webhooks/{id}', { params: { path: { id } }, body, ...attempt }),
      options,
    );
  }

  delete(id: string, options?: CallOptions): Promise<void> {
    return this.transport.run(
      (api, attempt) => api.DELETE('/webhooks/{id}', { params: { path: { id } }, ...attempt }),
      { ...options, ignoreNotFoundOnRetry: true },
    );
  }

  /** Sends a `ping`. */
  test(id: string, options?: CallOptions): Promise<WebhookDelivery> {
    return this.transport.run(
      (api, attempt) => api.POST('/webhooks/{id}/test', { params: { path: { id } }, ...attempt }),
      { ...options, post: true },
    );
  }
}
