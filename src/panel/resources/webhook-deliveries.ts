/** Recent deliveries of a webhook, attempt by attempt, with a button to send an event again. */
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Webhook } from '../../spec/schemas/webhook.ts';
import { DELIVERED_EVENT_TYPES, type Delivery } from '../../spec/schemas/webhook.ts';
import { DELIVERY_STATUSES } from '../../spec/states.ts';
import { listFilterForm } from '../parts/compact-forms.ts';
import { pager, statusBadge, table, time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';

export interface DeliveryList {
  readonly items: readonly Delivery[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
}

const STATUS_TONES = { pending: 'busy', delivered: 'good', failed: 'bad', cancelled: 'off' } as const;

/** Error codes that need an explanation. */
const ERROR_TEXTS: Readonly<Record<string, string>> = {
  timeout: 'timed out',
  dns: 'host name not found',
  tls: 'invalid certificate',
};

function formatDeliveryError(error: string | null): string {
  return error === null ? '–' : (ERROR_TEXTS[error] ?? error);
}

export function deliveriesSection(webhook: Webhook, shown: DeliveryList, forms: FormContext): Html {
  const { items, filter } = shown;
  const filtered = Object.keys(filter).length > 0;
  const page = resourcePath(PANEL_PATHS.webhooks, webhook.id);
  const list = () => {
    if (items.length > 0) return form(forms, { name: 'replay' }, deliveriesTable(webhook, items));
    return filtered
      ? html`<p>No matching deliveries.</p>`
      : html`<p>No deliveries in the last ${LIMITS.deliveryRetentionDays} days.</p>`;
  };
  return html`<p>Attempts in the last ${LIMITS.deliveryRetentionDays} days, newest first. We try each event up
to ${LIMITS.webhookAttemptsMax} times, and test events once.</p>
${(filtered || items.length > 0) && filterForm(page, filter)}
${list()}
${pager(shown)}`;
}

function filterForm(page: string, filter: Readonly<Record<string, string>>): Html {
  const { status = '', event_type: type = '' } = filter;
  const choices = (words: readonly string[]) => [
    ['', 'Any'] as const,
    ...words.map((word) => [word, word] as const),
  ];
  return listFilterForm(
    page,
    filter,
    (fields) => html`${fields.select('status', 'Status', {
      value: status,
      choices: choices(DELIVERY_STATUSES),
    })}
${fields.select('event_type', 'Event', { value: type, choices: choices(DELIVERED_EVENT_TYPES) })}`,
  );
}

function deliveriesTable({ active }: Webhook, items: readonly Delivery[]): Html {
  const rows = items.map((delivery) => [
    html`<code>${delivery.event_type}</code>`,
    statusBadge(delivery.status, STATUS_TONES[delivery.status]),
    `${delivery.attempt}`,
    delivery.http_status ?? formatDeliveryError(delivery.error),
    delivery.duration_ms === null ? '–' : `${delivery.duration_ms} ms`,
    time(delivery.attempted_at),
    time(delivery.next_attempt_at),
    active && delivery.status !== 'pending' && resendButton(delivery),
  ]);
  const number = 'number' as const;
  const list = table({
    caption: 'Attempts, newest first',
    columns: [
      'Event',
      'Status',
      { name: 'Attempt', class: number },
      'Response',
      { name: 'Duration', class: number },
      'Attempted',
      'Next attempt',
      { name: 'Actions', class: 'actions' },
    ],
    rows,
  });
  return html`<div class="ids">${list}</div>`;
}

function resendButton({ id, event_type: type }: Delivery): Html {
  return html`<button class="quiet" name="delivery" value="${id}"
aria-label="Send again: ${type}">Send again</button>`;
}
