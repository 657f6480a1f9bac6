/** The list of webhooks, with a form to make one, and the page of one with its deliveries. */
import { EVENT_TYPES, EVENTS, type EventType } from '../spec/events.ts';
import { LIMITS } from '../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../spec/paths.ts';
import type { Webhook } from '../spec/schemas/webhook.ts';
import { collapsibleForm } from './collapsible-form.ts';
import { copyable, day, detailList, emptyState, pager, section, statusBadge, table } from './components.ts';
import { Fields, type FormContext, form } from './form.ts';
import { Html, html } from './html.ts';
import type { View } from './layout.ts';
import { type DeliveryList, deliveriesSection } from './webhook-deliveries.ts';

const GUIDE_PATH = `${PANEL_PATHS.docs}/guides/webhooks`;

export function webhooksView(data: {
  readonly webhooks: readonly Webhook[];
  readonly next: string | null;
  readonly first: string | null;
  /** Of the webhook that was just made. */
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
      ? table({ caption: 'Webhooks', columns: ['URL', 'Events', 'State', 'Created'], rows })
      : emptyState(
          'No webhooks yet.',
          'A webhook tells a program of yours what happens to your servers. Make one below.',
        );
  return {
    title: 'Webhooks',
    section: 'webhooks',
    body: html`${data.created && secretNotice(data.created)}
${list}
${pager(data)}
${section('Create a webhook', createForm(data.forms))}`,
  };
}

function formatEvents({ events }: Webhook): string {
  if (events.includes('*')) return 'all';
  const [single] = events;
  return events.length === 1 && single !== undefined ? single : `${events.length} of ${EVENT_TYPES.length}`;
}

function activeBadge({ active }: Webhook): Html {
  return active ? statusBadge('active', 'good') : statusBadge('paused');
}

function secretNotice({ id, secret }: { readonly id: string; readonly secret: string }): Html {
  return html`<div class="once" role="status"><p>The webhook is created. This is its signing secret; it is shown this once:</p>
<p>${copyable(secret)}</p>
<p>Every delivery is signed with it. <a href="${GUIDE_PATH}">How to check a signature</a></p>
<p><a href="${resourcePath(PANEL_PATHS.webhooks, id)}">Go to the webhook, to send it a ping</a></p></div>`;
}

function createForm(forms: FormContext): Html {
  const fields = new Fields(forms, 'create');
  return form(
    forms,
    { name: 'create' },
    html`${urlField(fields, '')}
${eventBoxes(fields, [])}
<button>Create the webhook</button>`,
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
    hint: 'It begins with https:// and leads to the public internet, with a valid certificate; no user name, no password, no #.',
  });
}

/** Boxes by what they are about: `server.…` first, as in the table of events. */
function eventBoxes(fields: Fields, subscribed: readonly string[]): Html {
  const groups = new Map<string, EventType[]>();
  for (const type of EVENT_TYPES) {
    const about = type.split('.')[0] ?? '';
    groups.set(about, [...(groups.get(about) ?? []), type]);
  }
  const box = (type: string, label: Html) => {
    const ticked = fields.isChecked(`events.${type}`, subscribed.includes(type));
    return html`<label class="choice"><input type="checkbox" name="events.${type}"${ticked && new Html(' checked')}> <span>${label}</span></label>\n`;
  };
  const lists = [...groups].map(
    ([about, types]) => html`<fieldset class="events"><legend>${about}</legend>
${types.map((type) => box(type, html`<code>${type}</code> <span class="soft">${EVENTS[type].when}</span>`))}</fieldset>\n`,
  );
  return html`<fieldset><legend>Events</legend>
${fields.notes('events')}
${box('*', html`All, those that are added later too`)}
<details${!subscribed.includes('*') && new Html(' open')}><summary>Only some</summary><div class="columns">
${lists}</div></details></fieldset>`;
}

export function webhookView(data: {
  readonly webhook: Webhook;
  readonly deliveries: DeliveryList;
  readonly forms: FormContext;
  readonly refreshS: number | undefined;
}): View {
  const { webhook, deliveries, forms, refreshS } = data;
  return {
    title: 'Webhook',
    section: 'webhooks',
    breadcrumbs: [['Webhooks', PANEL_PATHS.webhooks]],
    ...(refreshS === undefined ? {} : { refreshS }),
    body: html`${detailList([
      ['URL', html`<code>${webhook.url}</code>`],
      ['Events', webhook.events.includes('*') ? 'all' : webhook.events.join(', ')],
      ['State', activeBadge(webhook)],
      [
        'Secret',
        html`<code>whsec_…${webhook.secret_hint}</code> · <a href="${GUIDE_PATH}">how to check a signature</a>`,
      ],
      ['Created', day(webhook.created_at)],
      ['Id', html`<code>${webhook.id}</code>`],
    ])}
${pingForm(webhook, forms)}
${section('Deliveries', deliveriesSection(webhook, deliveries, forms))}
${section('Change', changeForm(webhook, forms))}
${section('Delete', deleteForm(forms))}`,
  };
}

function pingForm({ active }: Webhook, forms: FormContext): Html {
  if (!active) return html`<p>It is paused: nothing is sent to it, pings neither. Make it active below.</p>`;
  return form(
    forms,
    { name: 'ping' },
    html`<button class="plain">Send a ping</button> <span class="hint">A test event, sent once, whatever it is subscribed to.</span>`,
  );
}

function changeForm(webhook: Webhook, forms: FormContext): Html {
  const fields = new Fields(forms, 'change');
  return collapsibleForm(forms, 'change', {
    summary: 'Change URL, events or state',
    content: html`${urlField(fields, webhook.url)}
${fields.checkbox('active', 'Active', { value: webhook.active, hint: 'When it is paused, what waits to be sent to it is cancelled.' })}
${eventBoxes(fields, webhook.events)}
<button>Save</button>`,
  });
}

function deleteForm(forms: FormContext): Html {
  return collapsibleForm(forms, 'delete', {
    summary: 'Delete this webhook',
    words:
      'Nothing more is sent to it, and the log of its deliveries is gone. Its secret cannot be had back.',
    content: html`<button class="danger">Delete the webhook</button>`,
  });
}
