import { setTimeout as sleep } from 'node:timers/promises';
import { mayPass, type Skerry, WaitTimeoutError, type WebhookDelivery } from '@skerry/sdk';
import { type Command, type Context, command } from '../../command.ts';
import { Failure } from '../../exit-codes.ts';
import { given, LISTS, showList } from '../../lists.ts';
import { arg, text } from '../../options.ts';
import { WAITS, type Waiting, type Waits, waiting } from '../../terminal/waiting.ts';
import { DELIVERY_COLUMNS } from './columns.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'] as const;
const WEBHOOK = arg('Its id.', { completes: 'webhook' });
/** A receiver has ten seconds to answer; the rest is for a service that has much to send. */
const TIMEOUT_MS = 120_000;
/** As often as the service lets one call. */
const INTERVAL_MS = 1_000;

const deliveries = command({
  name: 'webhook deliveries',
  about: 'List what was sent in the last seven days, attempt by attempt',
  does: ['deliveries.list'],
  args: { webhook: WEBHOOK },
  options: {
    status: text('status', 'Only in this status.', { choices: STATUSES }),
    eventType: text('type', 'Only of this type of event.'),
    ...LISTS,
  },
  columns: DELIVERY_COLUMNS,
  example: 'skerry webhook deliveries whk_aaaqk3m7qzb5x2l6v4t7n8wyja --status failed',
  run: async (context, { webhook, status, eventType, sort, limit }) => {
    const query = given({ filter: given({ status, event_type: eventType }), sort }) as object;
    await showList(context, context.skerry.deliveries.list(webhook, query), limit, DELIVERY_COLUMNS);
  },
});

const test = command({
  name: 'webhook test',
  about: 'Send a ping, and show how it went',
  does: ['webhooks.test', 'deliveries.list'],
  args: { webhook: WEBHOOK },
  options: WAITS,
  columns: DELIVERY_COLUMNS,
  example: 'skerry webhook test whk_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async (context, { webhook, ...waits }) => {
    await follow(context, waits, webhook, await context.skerry.webhooks.test(webhook));
  },
});

const replay = command({
  name: 'webhook replay',
  about: 'Send the event of a delivery once more, and show how it went',
  does: ['deliveries.replay', 'deliveries.list'],
  args: { webhook: WEBHOOK, delivery: arg('Id of the delivery: see `skerry webhook deliveries`.') },
  options: WAITS,
  columns: DELIVERY_COLUMNS,
  example: 'skerry webhook replay whk_aaaqk3m7qzb5x2l6v4t7n8wyja del_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async (context, { webhook, delivery, ...waits }) => {
    await follow(context, waits, webhook, await context.skerry.deliveries.replay(webhook, delivery));
  },
});

/** Shows its first attempt; fails when nobody took it. */
async function follow(
  context: Context,
  waits: Waits,
  webhook: string,
  begun: WebhookDelivery,
): Promise<void> {
  const { skerry, output, terminal } = context;
  const show = (seen: WebhookDelivery) => output.show(seen, DELIVERY_COLUMNS);
  const tried = await waiting(
    context,
    waits,
    `delivery ${begun.id}`,
    begun,
    (options) => attempted(skerry, webhook, begun, options),
    show,
  );
  show(tried);
  if (tried.next_attempt_at !== null) terminal.note(`It is tried again at ${tried.next_attempt_at}.`);
  if (tried.status === 'delivered' || tried.status === 'pending') return;
  const why = tried.error ?? (tried.http_status === null ? 'no answer' : `HTTP ${tried.http_status}`);
  throw new Failure('failed', `delivery ${tried.id} is ${tried.status}: ${why}`);
}

async function attempted(
  skerry: Skerry,
  webhook: string,
  begun: WebhookDelivery,
  { signal, timeoutMs = TIMEOUT_MS, onLook }: Waiting,
): Promise<WebhookDelivery> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const isLate = Date.now() + INTERVAL_MS > deadlineMs;
    const seen = await look(skerry, webhook, begun, signal).catch((error: unknown) => {
      // It is sent, whether we can look at it or not.
      if (isLate || signal.aborted || !mayPass(error)) throw error;
      onLook({ status: `not to be seen right now (${error.message})` });
      return null;
    });
    if (seen) onLook(seen);
    if (seen && seen.status !== 'pending') return seen;
    if (isLate) {
      throw new WaitTimeoutError(
        `Delivery ${begun.id} is still pending after ${timeoutMs} ms.`,
        seen ?? begun,
      );
    }
    await sleep(INTERVAL_MS, undefined, { signal });
  }
}

async function look(
  skerry: Skerry,
  webhook: string,
  begun: WebhookDelivery,
  signal: AbortSignal,
): Promise<WebhookDelivery> {
  // The newest come first, and its only attempt is hardly older than this look.
  const { data } = await skerry.deliveries.list(webhook, { page_size: 100 }, { signal }).first();
  return data.find(({ id }) => id === begun.id) ?? begun;
}

export const WEBHOOK_DELIVERIES: readonly Command[] = [deliveries, test, replay];
