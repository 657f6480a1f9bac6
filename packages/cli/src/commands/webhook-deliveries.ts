import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type Skerry, WaitTimeoutError, type WebhookDelivery } from '@skerry/sdk';
import { type Command, type Context, command } from '../command.ts';
import { Failure } from '../exit-codes.ts';
import { listCommand } from '../lists.ts';
import { arg, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { type PollOptions, WAIT_OPTIONS, type WaitFlags, waitAndShow } from '../terminal/wait.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
const WEBHOOK = arg('ID of the webhook', { completionKind: 'webhook' });
/** An endpoint has ten seconds to respond; the rest is for a service with a long queue. */
const TIMEOUT_MS = 120_000;
/** The service's rate limit allows one call per second. */
const INTERVAL_MS = 1_000;

const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  ...fields<WebhookDelivery>('id', 'event_type', 'attempt', 'status', 'http_status'),
  ...hidden(fields<WebhookDelivery>('event', 'error', 'duration_ms')),
  ...hidden(times<WebhookDelivery>('attempted_at', 'next_attempt_at', 'created_at')),
];

const deliveries = listCommand({
  name: 'webhook deliveries',
  about: 'List deliveries of the last seven days, one line per attempt',
  operations: ['deliveries.list'],
  args: { webhook: WEBHOOK },
  options: {
    status: text('status', 'Filter by status', { choices: STATUSES }),
    eventType: text('type', 'Filter by event type'),
  },
  columns: DELIVERY_COLUMNS,
  example: 'skerry webhook deliveries whk_aaaqk3m7qzb5x2l6v4t7n8wyja --status failed',
  list: (skerry, query, { webhook }) => skerry.deliveries.list(webhook, query),
  filter: ({ status, eventType }) => ({ status, event_type: eventType }),
});

const test = command({
  name: 'webhook test',
  about: 'Send a ping and show the result',
  operations: ['webhooks.test', 'deliveries.list'],
  args: { webhook: WEBHOOK },
  options: WAIT_OPTIONS,
  columns: DELIVERY_COLUMNS,
  example: 'skerry webhook test whk_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async (context, { webhook, ...waits }) => {
    await waitForDelivery(context, waits, webhook, await context.skerry.webhooks.test(webhook));
  },
});

const replay = command({
  name: 'webhook replay',
  about: 'Send the event of a delivery again and show the result',
  operations: ['deliveries.replay', 'deliveries.list'],
  args: { webhook: WEBHOOK, delivery: arg('ID of the delivery; see `skerry webhook deliveries`') },
  options: WAIT_OPTIONS,
  columns: DELIVERY_COLUMNS,
  example: 'skerry webhook replay whk_aaaqk3m7qzb5x2l6v4t7n8wyja del_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async (context, { webhook, delivery, ...waits }) => {
    await waitForDelivery(context, waits, webhook, await context.skerry.deliveries.replay(webhook, delivery));
  },
});

/** Shows the first attempt; fails if it was not accepted. */
async function waitForDelivery(
  context: Context,
  waits: WaitFlags,
  webhook: string,
  delivery: WebhookDelivery,
): Promise<void> {
  const { skerry, output, terminal } = context;
  const show = (seen: WebhookDelivery) => output.show(seen, DELIVERY_COLUMNS);
  const wait = (options: PollOptions) => pollDelivery(skerry, webhook, delivery, options);
  const latest = await waitAndShow(context, waits, `delivery ${delivery.id}`, delivery, wait, show);
  if (latest.next_attempt_at !== null) terminal.note(`Next attempt at ${latest.next_attempt_at}.`);
  if (latest.status === 'delivered' || latest.status === 'pending') return;
  const why = latest.error ?? (latest.http_status === null ? 'no response' : `HTTP ${latest.http_status}`);
  throw new Failure('failed', `delivery ${latest.id} is ${latest.status}: ${why}`);
}

async function pollDelivery(
  skerry: Skerry,
  webhook: string,
  delivery: WebhookDelivery,
  { signal, timeoutMs = TIMEOUT_MS, onLook }: PollOptions,
): Promise<WebhookDelivery> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const isPastDeadline = Date.now() + INTERVAL_MS > deadlineMs;
    const seen = await refreshDelivery(skerry, webhook, delivery, signal).catch((error: unknown) => {
      // The delivery continues even if we cannot reach the service.
      if (isPastDeadline || signal.aborted || !mayPass(error)) throw error;
      onLook({ status: `unreachable at the moment (${error.message})` });
      return null;
    });
    if (seen) onLook(seen);
    if (seen && seen.status !== 'pending') return seen;
    if (isPastDeadline) {
      throw new WaitTimeoutError(
        `Delivery ${delivery.id} is still pending after ${timeoutMs} ms.`,
        seen ?? delivery,
      );
    }
    await sleep(INTERVAL_MS, undefined, { signal });
  }
}

async function refreshDelivery(
  skerry: Skerry,
  webhook: string,
  delivery: WebhookDelivery,
  signal: AbortSignal,
): Promise<WebhookDelivery> {
  // Newest first: the delivery was just created, so it is on the first page.
  const { data } = await skerry.deliveries.list(webhook, { page_size: 100 }, { signal }).first();
  return data.find(({ id }) => id === delivery.id) ?? delivery;
}

export const WEBHOOK_DELIVERIES: readonly Command[] = [deliveries, test, replay];
