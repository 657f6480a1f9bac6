/** Webhook subscriptions and their delivery log. */
import { createWebhook, deleteWebhook, updateWebhook } from '../../../domain/webhooks/change.ts';
import { replayDelivery, testWebhook } from '../../../domain/webhooks/queue.ts';
import { findWebhook, listDeliveries, listWebhooks } from '../../../domain/webhooks/read.ts';
import { endWebhookRotation, rotateWebhookSecret } from '../../../domain/webhooks/secret.ts';
import { BY_AGE } from '../../../spec/lists.ts';
import {
  CreatedWebhook,
  CreateWebhook,
  DELIVERED_EVENT_TYPES,
  Delivery,
  EndRotation,
  RotatedWebhook,
  UpdateWebhook,
  Webhook,
} from '../../../spec/schemas/webhook.ts';
import { DELIVERY_STATUSES } from '../../../spec/states.ts';
import { listRoute, type Route, route } from '../route.ts';

const webhookRoutes: readonly Route[] = [
  listRoute({
    id: 'webhooks.list',
    path: '/webhooks',
    scope: 'read',
    summary: 'List webhooks',
    list: { filters: { active: { allowed: ['true', 'false'] } }, ...BY_AGE },
    reply: Webhook,
    run: ({ service, actor, page }) => listWebhooks(service, actor, page),
  }),
  route({
    id: 'webhooks.create',
    method: 'POST',
    path: '/webhooks',
    scope: 'write',
    summary: 'Create a webhook',
    description: 'The response contains the signing secret, which we show only once.',
    status: 201,
    errorStatuses: [422],
    audit: 'webhook.create',
    body: CreateWebhook,
    example: { url: 'https://example.com/hooks', events: ['server.running', 'server.destroyed'] },
    reply: CreatedWebhook,
    run: ({ service, actor, body }) => createWebhook(service, actor, body),
  }),
  route({
    id: 'webhooks.get',
    method: 'GET',
    path: '/webhooks/{id}',
    scope: 'read',
    summary: 'Retrieve a webhook',
    reply: Webhook,
    run: ({ service, actor, params }) => findWebhook(service, actor, params.id),
  }),
  route({
    id: 'webhooks.update',
    method: 'PATCH',
    path: '/webhooks/{id}',
    scope: 'write',
    summary: 'Update a webhook',
    description:
      'Changes the URL, the events, or whether the webhook is active. Making it inactive cancels its ' +
      'pending deliveries.',
    audit: 'webhook.update',
    body: UpdateWebhook,
    example: { events: ['*'] },
    reply: Webhook,
    run: ({ service, actor, params, body }) => updateWebhook(service, actor, params.id, body),
  }),
  route({
    id: 'webhooks.delete',
    method: 'DELETE',
    path: '/webhooks/{id}',
    scope: 'write',
    summary: 'Delete a webhook',
    status: 204,
    audit: 'webhook.delete',
    reply: null,
    run: ({ service, actor, params }) => deleteWebhook(service, actor, params.id),
  }),
];

const rotationRoutes: readonly Route[] = [
  route({
    id: 'webhooks.rotate_secret',
    method: 'POST',
    path: '/webhooks/{id}/rotate-secret',
    scope: 'write',
    summary: 'Rotate the secret of a webhook',
    description:
      'Creates the next signing secret, which we show only once. Until you end the rotation, each delivery ' +
      'has `X-Service-Signature` of the current secret and `X-Service-Signature-Next` of the next one. ' +
      'Calling it again replaces the next secret.',
    audit: 'webhook.rotate_secret',
    reply: RotatedWebhook,
    run: ({ service, actor, params }) => rotateWebhookSecret(service, actor, params.id),
  }),
  route({
    id: 'webhooks.end_rotation',
    method: 'POST',
    path: '/webhooks/{id}/end-rotation',
    scope: 'write',
    summary: 'End the rotation of a secret',
    description: 'The next secret replaces the current one at once. Receivers must know it by then.',
    errorStatuses: [409],
    audit: 'webhook.end_rotation',
    body: EndRotation,
    example: { keep: 'next' },
    reply: Webhook,
    run: ({ service, actor, params, body }) => endWebhookRotation(service, actor, params.id, body),
  }),
];

const deliveryRoutes: readonly Route[] = [
  route({
    id: 'webhooks.test',
    method: 'POST',
    path: '/webhooks/{id}/test',
    scope: 'write',
    summary: 'Send a test event',
    description:
      'Sends an event of type `ping` with the webhook in `data`, even if it does not subscribe to `ping`. ' +
      'We make one attempt.',
    status: 202,
    errorStatuses: [409],
    audit: 'webhook.test',
    reply: Delivery,
    run: ({ service, actor, params }) => testWebhook(service, actor, params.id),
  }),
  listRoute({
    id: 'deliveries.list',
    path: '/webhooks/{id}/deliveries',
    scope: 'read',
    summary: 'List webhook deliveries',
    description: 'Lists the delivery attempts of the last 7 days.',
    list: {
      filters: { status: { allowed: DELIVERY_STATUSES }, event_type: { allowed: DELIVERED_EVENT_TYPES } },
      ...BY_AGE,
    },
    reply: Delivery,
    run: ({ service, actor, params, page }) => listDeliveries(service, actor, params.id, page),
  }),
  route({
    id: 'deliveries.replay',
    method: 'POST',
    path: '/webhooks/{id}/deliveries/{delivery_id}/replay',
    scope: 'write',
    summary: 'Replay a delivery',
    description: 'Creates a new delivery of the same event.',
    status: 202,
    errorStatuses: [409],
    audit: 'webhook.replay',
    reply: Delivery,
    run: ({ service, actor, params }) => {
      const ids = { webhook: params.id, delivery: params.delivery_id };
      return replayDelivery(service, actor, ids);
    },
  }),
];

export const WEBHOOK_ROUTES: readonly Route[] = [...webhookRoutes, ...rotationRoutes, ...deliveryRoutes];
