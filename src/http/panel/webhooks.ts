/** Webhooks in the panel. */
import { findWebhook, listWebhooks } from '../../domain/webhooks/find.ts';
import { listDeliveries } from '../../domain/webhooks/log.ts';
import { webhooksView, webhookView } from '../../panel/webhooks.ts';
import { PANEL_PATHS, PANEL_QUERY, thingPath } from '../../spec/paths.ts';
import type { CreatedWebhook, Webhook } from '../../spec/schemas/webhook.ts';
import { field } from '../form.ts';
import { body, text, ticked, tickedIds } from './fields.ts';
import { readList } from './list.ts';
import { type Look, type PanelPage, restForm } from './page.ts';

/** How often the page looks what became of what was just sent. */
const REFRESH_S = 5;
const SENT: readonly string[] = ['ping_queued', 'replay_queued'];

const pageOf = (id: string): string => thingPath(PANEL_PATHS.webhooks, id);

export const WEBHOOK_PAGES: readonly PanelPage[] = [
  {
    path: PANEL_PATHS.webhooks,
    access: 'customer',
    shows: ['webhooks.list'],
    show: showWebhooks,
    forms: {
      create: restForm<CreatedWebhook>({
        does: 'webhooks.create',
        body: body({ url: text, events: tickedIds }),
        done: ({ id, secret }) => ({ shown: { id, secret } }),
      }),
    },
  },
  {
    path: `${PANEL_PATHS.webhooks}/{id}`,
    access: 'customer',
    shows: ['webhooks.get', 'deliveries.list'],
    show: showWebhook,
    forms: {
      ping: restForm({
        does: 'webhooks.test',
        done: (_delivery, { params }) => ({ to: pageOf(params.id ?? ''), notice: 'ping_queued' }),
      }),
      replay: restForm({
        does: 'deliveries.replay',
        params: (form, { id = '' }) => ({ id, delivery_id: field(form, 'delivery') }),
        done: (_delivery, { params }) => ({ to: pageOf(params.id ?? ''), notice: 'replay_queued' }),
      }),
      change: restForm<Webhook>({
        does: 'webhooks.update',
        body: body({ url: text, events: tickedIds, active: ticked }),
        done: ({ id }) => ({ to: pageOf(id), notice: 'saved' }),
      }),
      delete: restForm({
        does: 'webhooks.delete',
        done: () => ({ to: PANEL_PATHS.webhooks, notice: 'webhook_deleted' }),
      }),
    },
  },
];

async function showWebhooks(look: Look) {
  const list = await readList(look, 'webhooks.list', (page) =>
    listWebhooks(look.service, look.customer(), page),
  );
  const { id = '', secret = '' } = look.shown?.texts ?? {};
  const { items: webhooks, next, first } = list;
  return webhooksView({ webhooks, next, first, made: look.shown && { id, secret }, forms: look.forms });
}

async function showWebhook(look: Look) {
  const { service, params, forms } = look;
  const customer = look.customer();
  const id = params.id ?? '';
  const [webhook, deliveries] = await Promise.all([
    findWebhook(service, customer, id),
    readList(look, 'deliveries.list', (page) => listDeliveries(service, customer, id, page)),
  ]);
  const waits = deliveries.items.some(({ status, attempt }) => status === 'pending' && attempt === 1);
  const sent = SENT.includes(field(look.query, PANEL_QUERY.notice));
  return webhookView({ webhook, deliveries, forms, refreshS: sent && waits ? REFRESH_S : undefined });
}
