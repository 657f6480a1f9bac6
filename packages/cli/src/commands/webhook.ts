import type { CreatedWebhook, CreateWebhook, Webhook } from '@skerry/sdk';
import { type Command, command } from '../command.ts';
import { listCommand, omitUndefined, requireChanges } from '../lists.ts';
import { arg, booleanOption, listOf, text } from '../options.ts';
import { type Column, fields, hidden, times } from '../output/format.ts';
import { deleteCommand, describeCommand, type Resource } from '../resources.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../terminal/create-once.ts';

export const WEBHOOK_COLUMNS: readonly Column<Webhook>[] = [
  ...fields<Webhook>('id', 'url', 'active'),
  ...hidden(fields<Webhook>('paused_reason', 'scope', 'events', 'secret_hint', 'next_secret_hint')),
  ...hidden(times<Webhook>('created_at')),
];

/** A webhook that was just created has none of these. */
const LEFT_OUT: readonly string[] = ['secret_hint', 'next_secret_hint', 'paused_reason'];

const CREATED_WEBHOOK_COLUMNS: readonly Column<CreatedWebhook>[] = [
  ...WEBHOOK_COLUMNS.filter(({ name }) => !LEFT_OUT.includes(name)),
  { name: 'secret', value: ({ secret }) => secret },
];

/** Webhooks have no names. */
const WEBHOOK = arg('ID of the webhook', { completionKind: 'webhook' });
const EVENT_HELP = "Event type to send, such as server.running, or '*' for all";
type Events = CreateWebhook['events'];

const list = listCommand({
  name: 'webhook list',
  about: 'List webhooks',
  operations: ['webhooks.list'],
  options: { active: booleanOption('Filter by whether the webhook is active') },
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook list --active true',
  list: (skerry, query) => skerry.webhooks.list(query),
  filter: ({ active }) => ({ active: active === undefined ? undefined : String(active) }),
});

const WEBHOOK_RESOURCE: Resource<Webhook> = {
  word: 'webhook',
  about: 'ID of the webhook',
  find: (skerry, id) => skerry.webhooks.get(id),
  calls: ['webhooks.get'],
};

const describe = describeCommand(WEBHOOK_RESOURCE, {
  about: 'Show a webhook',
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook describe whk_aaaqk3m7qzb5x2l6v4t7n8wyja',
});

const create = command({
  name: 'webhook create',
  about: 'Create a webhook, whose signing secret is shown only once',
  operations: ['webhooks.create'],
  args: { url: arg('HTTPS URL with a valid certificate') },
  options: { event: listOf('type', `${EVENT_HELP} (default: all)`), ...IDEMPOTENCY_OPTIONS },
  columns: CREATED_WEBHOOK_COLUMNS,
  example: 'skerry webhook create https://example.com/hooks --event server.running --event server.destroyed',
  run: async (context, { url, event, idempotencyKey: key }) => {
    const { skerry, output, terminal } = context;
    const body = { url, events: (event ?? ['*']) as Events };
    const created = await createOnce(
      context,
      { key, subject: 'the webhook', lookupCommand: ['skerry', 'webhook', 'list'] },
      (once) => skerry.webhooks.create(body, once),
    );
    output.show(created, CREATED_WEBHOOK_COLUMNS);
    terminal.warn('skerry: the secret is shown only once; store it now to verify deliveries');
  },
});

const update = command({
  name: 'webhook update',
  about: 'Change the URL or events of a webhook, or pause it',
  operations: ['webhooks.update'],
  args: { webhook: WEBHOOK },
  options: {
    url: text('url', 'HTTPS URL with a valid certificate'),
    event: listOf('type', `${EVENT_HELP}; replaces all event types`),
    active: booleanOption('Set to false to pause the webhook'),
  },
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook update whk_aaaqk3m7qzb5x2l6v4t7n8wyja --active false',
  run: async ({ skerry, output }, { webhook, url, event, active }) => {
    const { event: events, ...body } = requireChanges({ url, event: event as Events | undefined, active });
    const updated = await skerry.webhooks.update(webhook, { ...body, ...omitUndefined({ events }) });
    output.show(updated, WEBHOOK_COLUMNS);
  },
});

const remove = deleteCommand(WEBHOOK_RESOURCE, {
  noun: 'webhook',
  operation: 'webhooks.delete',
  delete: (skerry, id) => skerry.webhooks.delete(id),
  consequence: ({ url }) => ` and stop all deliveries to ${url}`,
  about: 'Delete a webhook',
  example: 'skerry webhook delete whk_aaaqk3m7qzb5x2l6v4t7n8wyja --yes',
});

export const WEBHOOK_COMMANDS: readonly Command[] = [list, describe, create, update, remove];
