/** Webhook pages. */

import { findWebhook, listDeliveries, listWebhooks } from '../../../domain/webhooks/read.ts';
import { eventsOfGroup, GROUP_FIELD } from '../../../panel/resources/webhook-events.ts';
import { webhooksView, webhookView } from '../../../panel/resources/webhooks.ts';
import { PANEL_PATHS, PANEL_QUERY, resourcePath } from '../../../spec/paths.ts';
import type { CreatedWebhook, RotatedWebhook, Webhook } from '../../../spec/schemas/webhook.ts';
import { type Form, field } from '../../form.ts';
import { bodyReader, checkedIds, isChecked, text } from '../field-readers.ts';
import { readList } from '../list.ts';
import { type PageContext, type PanelPage, page, restForm } from '../page-types.ts';

/** How often the page reloads while a delivery that was just sent is pending. */
const REFRESH_S = 5;
const SENT_NOTICES: readonly string[] = ['ping_queued', 'replay_queued'];

/** The ticked events and those of the ticked groups. */
function selectedEvents(form: Form): readonly string[] {
  const ticked = (name: string) => checkedIds(form, name) as readonly string[];
  return [...new Set([...ticked('events'), ...ticked(GROUP_FIELD).flatMap(eventsOfGroup)])];
}

const webhookPath = (id: string): string => resourcePath(PANEL_PATHS.webhooks, id);

export const WEBHOOK_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.webhooks,
    access: 'customer',
    readOperations: ['webhooks.list'],
    render: showWebhooks,
    forms: {
      create: restForm<CreatedWebhook>({
        operation: 'webhooks.create',
        body: bodyReader({ url: text, events: selectedEvents }),
        done: ({ id, secret }) => ({ shown: { id, secret } }),
      }),
    },
  },
  page({
    path: `${PANEL_PATHS.webhooks}/{id}`,
    access: 'customer',
    readOperations: ['webhooks.get', 'deliveries.list'],
    render: showWebhook,
    forms: {
      ping: restForm({
        operation: 'webhooks.test',
        done: (_delivery, { params }) => ({ to: webhookPath(params.id), notice: 'ping_queued' }),
      }),
      replay: restForm({
        operation: 'deliveries.replay',
        params: (form, { id = '' }) => ({ id, delivery_id: field(form, 'delivery') }),
        done: (_delivery, { params }) => ({ to: webhookPath(params.id), notice: 'replay_queued' }),
      }),
      rotate: restForm<RotatedWebhook>({
        operation: 'webhooks.rotate_secret',
        done: ({ next_secret: secret }) => ({ shown: { secret } }),
      }),
      end_rotation: restForm<Webhook>({
        operation: 'webhooks.end_rotation',
        body: bodyReader({ keep: text }),
        done: ({ id }, { form }) => ({
          to: webhookPath(id),
          notice: field(form, 'keep') === 'current' ? 'rotation_canceled' : 'rotation_ended',
        }),
      }),
      change: restForm<Webhook>({
        operation: 'webhooks.update',
        body: bodyReader({ url: text, events: selectedEvents, active: isChecked }),
        done: ({ id }) => ({ to: webhookPath(id), notice: 'saved' }),
      }),
      delete: restForm({
        operation: 'webhooks.delete',
        done: () => ({ to: PANEL_PATHS.webhooks, notice: 'webhook_deleted' }),
      }),
    },
  }),
];

async function showWebhooks(context: PageContext) {
  const list = await readList(context, 'webhooks.list', (page) =>
    listWebhooks(context.service, context.customer(), page),
  );
  const { id = '', secret = '' } = context.shown?.texts ?? {};
  const { items: webhooks, next, first } = list;
  return webhooksView({
    webhooks,
    next,
    first,
    created: context.shown && { id, secret },
    forms: context.forms,
  });
}

async function showWebhook(context: PageContext<{ readonly id: string }>) {
  const { service, forms } = context;
  const { id } = context.params;
  const customer = context.customer();
  const [webhook, deliveries] = await Promise.all([
    findWebhook(service, customer, id),
    readList(context, 'deliveries.list', (page) => listDeliveries(service, customer, id, page)),
  ]);
  const hasPending = deliveries.items.some(({ status, attempt }) => status === 'pending' && attempt === 1);
  const wasJustSent = SENT_NOTICES.includes(field(context.query, PANEL_QUERY.notice));
  return webhookView({
    webhook,
    rotated: context.shown && { secret: context.shown.texts.secret ?? '' },
    deliveries,
    forms,
    refreshS: wasJustSent && hasPending ? REFRESH_S : undefined,
  });
}
