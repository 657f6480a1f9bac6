/** The choice of a webhook's events, by the resource that they are about. */
import { EVENT_TYPES, EVENTS, type EventType } from '../../spec/events.ts';
import type { Fields } from '../parts/form.ts';
import { Html, html } from '../parts/html.ts';

/** Names of the groups of events, by the first part of their types. */
const GROUP_NAMES: Readonly<Record<string, string>> = {
  server: 'Servers',
  volume: 'Volumes',
  snapshot: 'Snapshots',
  backup: 'Backups',
  billing: 'Billing',
  topup: 'Top-ups',
  token: 'API tokens',
  firewall: 'Firewall',
  action: 'Actions',
  alert: 'Alerts',
};

/** The fields that select a whole group start with this. */
export const GROUP_FIELD = 'all_events';

/** Returns the events about a resource, in the order of the events table. */
export function eventsOfGroup(group: string): readonly EventType[] {
  return EVENT_TYPES.filter((type) => groupOf(type) === group);
}

function groupOf(type: EventType): string {
  return type.split('.')[0] ?? '';
}

export function eventBoxes(fields: Fields, subscribed: readonly string[]): Html {
  const groups = [...new Set(EVENT_TYPES.map(groupOf))];
  const lists = groups.map((group) => eventGroup(fields, group, subscribed));
  return html`<fieldset><legend>Events</legend>
${fields.notes('events')}
${box(fields, 'events.*', html`All events, including future ones`, subscribed.includes('*'))}
<div class="event-groups">
${lists}</div></fieldset>`;
}

function eventGroup(fields: Fields, group: string, subscribed: readonly string[]): Html {
  const types = eventsOfGroup(group);
  const name = GROUP_NAMES[group] ?? group;
  const wholeGroup = `${GROUP_FIELD}.${group}`;
  const selected = types.filter((type) => fields.isChecked(`events.${type}`, subscribed.includes(type)));
  const isWhole = subscribed.includes('*') || fields.isChecked(wholeGroup, false);
  const count = isWhole ? types.length : selected.length;
  const boxes = types.map((type) =>
    box(
      fields,
      `events.${type}`,
      html`<code>${type}</code> <span class="soft">${EVENTS[type].when}</span>`,
      subscribed.includes(type),
    ),
  );
  // Never ticked at first: a ticked one would bring back each event that is unticked below it.
  return html`<details class="events"><summary>${name} <span class="soft">${count} of ${types.length}
selected</span></summary>
<fieldset aria-label="${name}">${box(fields, wholeGroup, html`Select all of this group`, false)}
${boxes}</fieldset></details>\n`;
}

function box(fields: Fields, field: string, label: Html, current: boolean): Html {
  const checked = fields.isChecked(field, current) && new Html(' checked');
  const input = html`<input type="checkbox" name="${field}"${checked}>`;
  return html`<label class="choice">${input} <span>${label}</span></label>\n`;
}
