import type { CreateWebhook } from '@skerry/sdk';
import { type Command, command } from '../../command.ts';
import { LIST_OPTIONS, omitUndefined, showList } from '../../lists.ts';
import { arg, booleanOption, list as listOption, text } from '../../options.ts';
import { requireChanges } from '../../require-changes.ts';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import { createOnce, IDEMPOTENCY_OPTIONS } from '../../terminal/create-once.ts';
import { CREATED_WEBHOOK_COLUMNS, WEBHOOK_COLUMNS } from './columns.ts';

/** Webhooks have no names. */
const WEBHOOK = arg('ID of the webhook', { completionKind: 'webhook' });
const EVENT_HELP = "Event type to send, such as server.running, or '*' for all";
type Events = CreateWebhook['events'];

const list = command({
  name: 'webhook list',
  aliases: ['ls'],
  about: 'List webhooks',
  operations: ['webhooks.list'],
  options: { active: booleanOption('Filter by whether the webhook is active'), ...LIST_OPTIONS },
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook list --active true',
  run: async (context, { sort, limit, active }) => {
    const filter = omitUndefined({ active: active === undefined ? undefined : String(active) });
    const query = omitUndefined({ filter, sort }) as object;
    await showList(context, context.skerry.webhooks.list(query), limit, WEBHOOK_COLUMNS);
  },
});

const describe = command({
  name: 'webhook describe',
  aliases: ['get', 'show'],
  about: 'Show a webhook',
  operations: ['webhooks.get'],
  args: { webhook: WEBHOOK },
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook describe whk_aaaqk3m7qzb5x2l6v4t7n8wyja',
  run: async ({ skerry, output }, { webhook }) => {
    output.show(await skerry.webhooks.get(webhook), WEBHOOK_COLUMNS);
  },
});

const create = command({
  name: 'webhook create',
  about: 'Create a webhook, whose signing secret is shown only once',
  operations: ['webhooks.create'],
  args: { url: arg('HTTPS URL with a valid certificate') },
  options: { event: listOption('type', `${EVENT_HELP} (default: all)`), ...IDEMPOTENCY_OPTIONS },
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
    event: listOption('type', `${EVENT_HELP}; replaces all event types`),
    active: booleanOption('Set to false to pause the webhook'),
  },
  columns: WEBHOOK_COLUMNS,
  example: 'skerry webhook update whk_aaaqk3m7qzb5x2l6v4t7n8wyja --active false',
  run: async ({ skerry, output }, { webhook, url, event, active }) => {
    const { event: events, ...body } = requireChanges({
      url,
      event: event as Events | undefined,
      active,
    });
    const updated = await skerry.webhooks.update(webhook, {
      ...body,
      ...omitUndefined({ events }),
    });
    output.show(updated, WEBHOOK_COLUMNS);
  },
});

const remove = command({
  name: 'webhook delete',
  aliases: ['rm'],
  about: 'Delete a webhook',
  operations: ['webhooks.delete', 'webhooks.get'],
  args: { webhook: WEBHOOK },
  options: { yes: YES_OPTION },
  example: 'skerry webhook delete whk_aaaqk3m7qzb5x2l6v4t7n8wyja --yes',
  run: async ({ skerry, terminal }, { webhook, yes }) => {
    const { id, url } = await skerry.webhooks.get(webhook);
    await confirm(terminal, yes, `delete webhook ${id} and stop all deliveries to ${url}`);
    await skerry.webhooks.delete(id);
    terminal.note(`Webhook ${id} deleted.`);
  },
});

export const WEBHOOK_COMMANDS: readonly Command[] = [list, describe, create, update, remove];
