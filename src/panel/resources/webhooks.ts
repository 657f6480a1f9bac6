/** Webhooks: the list with a form to create one, and the page of one webhook with its deliveries. */
import { EVENT_TYPES } from '../../spec/events.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Webhook } from '../../spec/schemas/webhook.ts';
import { collapsibleForm } from '../parts/compact-forms.ts';
import {
  copyable,
  day,
  detailList,
  emptyState,
  pager,
  section,
  sectionLink,
  statusBadge,
  table,
} from '../parts/components.ts';
import { Fields, type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';
import { type DeliveryList, deliveriesSection } from './webhook-deliveries.ts';
import { eventBoxes } from './webhook-events.ts';
import { type RotatedSecret, secretSection } from './webhook-secret.ts';

const GUIDE_PATH = `${PANEL_PATHS.docs}/guides/webhooks`;

export function webhooksView(data: {
  readonly webhooks: readonly Webhook[];
  readonly next: string | null;
  readonly first: string | null;
  /** The webhook that was just created. */
  readonly created: { readonly id: string; readonly secret: string } | null;
  readonly forms: FormContext;
}): View {
  const rows = data.webhooks.map((webhook) => [
    html`<a href="${resourcePath(PANEL_PATHS.webhooks, webhook.id)}">${webhook.url}</a>`,
    formatEvents(webhook),
    activeBadge(webhook),
    day(webhook.created_at),
  ]);
  const list =
    rows.length > 0
      ? table({ caption: 'Webhooks', columns: ['URL', 'Events', 'Status', 'Created'], rows })
      : emptyState(
          'No webhooks yet.',
          'A webhook notifies your own program when something happens to your servers. Create one below.',
          sectionLink('Create webhook'),
        );
  return {
    title: 'Webhooks',
    section: 'webhooks',
    header: { actions: sectionLink('Create webhook') },
    body: html`${data.created && secretNotice(data.created)}
${list}
${pager(data)}
${section('Create webhook', createForm(data.forms))}`,
  };
}

function formatEvents({ events }: Webhook): string {
  if (events.includes('*')) return 'All';
  const [single] = events;
  return events.length === 1 && single !== undefined ? single : `${events.length} of ${EVENT_TYPES.length}`;
}

function activeBadge({ active }: Webhook): Html {
  return active ? statusBadge('active', 'good') : statusBadge('paused');
}

const PAUSED_NOTES: Readonly<Record<NonNullable<Webhook['paused_reason']>, string>> = {
  endpoint_gone: 'We paused it because its endpoint responded with 410 (Gone).',
  access_revoked:
    'We paused it when the account’s access was revoked. Check that the URL is yours before you activate it.',
  operator: 'Our team paused it.',
};

function pausedNote({ paused_reason: reason }: Webhook): Html | null {
  return reason && html` · ${PAUSED_NOTES[reason]}`;
}

function secretNotice({ id, secret }: { readonly id: string; readonly secret: string }): Html {
  const page = resourcePath(PANEL_PATHS.webhooks, id);
  return html`<div class="once" role="status"><p>Webhook created. This is its signing secret. It is shown
only once:</p>
<p>${copyable(secret)}</p>
<p>We sign every delivery with it. <a href="${GUIDE_PATH}">How to verify a signature</a></p>
<p><a href="${page}">Open the webhook and send a test event</a></p></div>`;
}

function createForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'create');
  return form(
    forms,
    { name: 'create' },
    html`<p>Webhooks are free.</p>
${urlField(fields, '')}
${eventBoxes(fields, [])}
<button>Create webhook</button>`,
  );
}

function urlField(fields: Fields, value: string): Html {
  return fields.text('url', 'URL', {
    type: 'url',
    value,
    required: true,
    maxLength: LIMITS.webhookUrlMaxChars,
    autocomplete: 'off',
    placeholder: 'https://example.com/hooks',
    hint: 'A public https:// URL with a valid certificate and no user name, password, or fragment.',
  });
}

export function webhookView(data: {
  readonly webhook: Webhook;
  /** The secret that was just created. */
  readonly rotated: RotatedSecret | null;
  readonly deliveries: DeliveryList;
  readonly forms: FormContext;
  readonly refreshS: number | undefined;
}): View {
  const { webhook, rotated, deliveries, forms, refreshS } = data;
  return {
    title: 'Webhook',
    section: 'webhooks',
    breadcrumbs: [['Webhooks', PANEL_PATHS.webhooks]],
    header: { status: activeBadge(webhook), facts: [html`<code>${webhook.url}</code>`] },
    ...(refreshS === undefined ? {} : { refreshS }),
    live: [webhook.id],
    body: html`${part(
      'facts',
      detailList([
        ['URL', html`<code>${webhook.url}</code>`],
        ['Events', webhook.events.includes('*') ? 'All' : webhook.events.join(', ')],
        ['Status', html`${activeBadge(webhook)}${pausedNote(webhook)}`],
        ['Scope', webhook.scope === 'billing' ? 'billing' : html`${webhook.scope} · no money events`],
        [
          'Signing secret',
          html`<code>whsec_…${webhook.secret_hint}</code>${
            webhook.next_secret_hint !== null &&
            html` · next: <code>whsec_…${webhook.next_secret_hint}</code>`
          } ·
<a href="${GUIDE_PATH}">How to verify a signature</a>`,
        ],
        ['Created', day(webhook.created_at)],
        ['ID', html`<code>${webhook.id}</code>`],
      ]),
    )}
${part('ping', pingForm(webhook, forms))}
${part('deliveries', section('Deliveries', deliveriesSection(webhook, deliveries, forms)))}
${section('Signing secret', secretSection(webhook, rotated, forms))}
${section('Edit', changeForm(webhook, forms))}
${section('Delete', deleteForm(forms))}`,
  };
}

function pingForm({ active }: Webhook, forms: FormContext): Html {
  if (!active) return html`<p>This webhook is paused, so no events are sent. Activate it below.</p>`;
  return form(
    forms,
    { name: 'ping' },
    html`<button class="plain">Send test event</button> <span class="hint">Sent once, regardless of the
subscribed events.</span>`,
  );
}

function changeForm(webhook: Webhook, forms: FormContext): Html {
  const fields = new Fields(forms, 'change');
  return collapsibleForm(forms, 'change', {
    summary: 'Edit URL, events, or status',
    content: html`${urlField(fields, webhook.url)}
${fields.checkbox('active', 'Active', { value: webhook.active, hint: 'Pausing cancels pending deliveries.' })}
${eventBoxes(fields, webhook.events)}
<button>Save changes</button>`,
  });
}

function deleteForm(forms: FormContext): Html {
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this webhook',
    description: 'This permanently deletes the webhook, its signing secret, and its delivery log.',
    content: html`<button class="danger">Delete webhook</button>`,
  });
}
