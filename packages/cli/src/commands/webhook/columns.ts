import type { CreatedWebhook, Webhook, WebhookDelivery } from '@skerry/sdk';
import { type Column, formatTime } from '../../output/columns.ts';

export const WEBHOOK_COLUMNS: readonly Column<Webhook>[] = [
  { name: 'id', value: (webhook) => webhook.id },
  { name: 'url', value: (webhook) => webhook.url },
  { name: 'active', value: (webhook) => webhook.active },
  { name: 'events', value: (webhook) => webhook.events, hidden: true },
  { name: 'secret_hint', value: (webhook) => webhook.secret_hint, hidden: true },
  { name: 'created_at', value: (webhook) => formatTime(webhook.created_at), hidden: true },
];

export const CREATED_WEBHOOK_COLUMNS: readonly Column<CreatedWebhook>[] = [
  ...WEBHOOK_COLUMNS.filter(({ name }) => name !== 'secret_hint'),
  { name: 'secret', value: ({ secret }) => secret },
];

export const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: 'id', value: (delivery) => delivery.id },
  { name: 'event_type', value: (delivery) => delivery.event_type },
  { name: 'attempt', value: (delivery) => delivery.attempt },
  { name: 'status', value: (delivery) => delivery.status },
  { name: 'http_status', value: (delivery) => delivery.http_status },
  { name: 'event', value: (delivery) => delivery.event, hidden: true },
  { name: 'error', value: (delivery) => delivery.error, hidden: true },
  { name: 'duration_ms', value: (delivery) => delivery.duration_ms, hidden: true },
  { name: 'attempted_at', value: (delivery) => formatTime(delivery.attempted_at), hidden: true },
  { name: 'next_attempt_at', value: (delivery) => formatTime(delivery.next_attempt_at), hidden: true },
  { name: 'created_at', value: (delivery) => formatTime(delivery.created_at), hidden: true },
];
