import type { CreatedWebhook, Webhook, WebhookDelivery } from '@skerry/sdk';
import { type Column, time } from '../../output/columns.ts';

export const WEBHOOK_COLUMNS: readonly Column<Webhook>[] = [
  { name: 'id', of: (webhook) => webhook.id },
  { name: 'url', of: (webhook) => webhook.url },
  { name: 'active', of: (webhook) => webhook.active },
  { name: 'events', of: (webhook) => webhook.events, hidden: true },
  { name: 'secret_hint', of: (webhook) => webhook.secret_hint, hidden: true },
  { name: 'created_at', of: (webhook) => time(webhook.created_at), hidden: true },
];

export const CREATED_WEBHOOK_COLUMNS: readonly Column<CreatedWebhook>[] = [
  ...WEBHOOK_COLUMNS.filter(({ name }) => name !== 'secret_hint'),
  { name: 'secret', of: ({ secret }) => secret },
];

export const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: 'id', of: (delivery) => delivery.id },
  { name: 'event_type', of: (delivery) => delivery.event_type },
  { name: 'attempt', of: (delivery) => delivery.attempt },
  { name: 'status', of: (delivery) => delivery.status },
  { name: 'http_status', of: (delivery) => delivery.http_status },
  { name: 'event', of: (delivery) => delivery.event, hidden: true },
  { name: 'error', of: (delivery) => delivery.error, hidden: true },
  { name: 'duration_ms', of: (delivery) => delivery.duration_ms, hidden: true },
  { name: 'attempted_at', of: (delivery) => time(delivery.attempted_at), hidden: true },
  { name: 'next_attempt_at', of: (delivery) => time(delivery.next_attempt_at), hidden: true },
  { name: 'created_at', of: (delivery) => time(delivery.created_at), hidden: true },
];
