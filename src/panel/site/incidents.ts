/** Incidents and planned maintenance: on the status page, one by one, in their history, and as a feed. */
import { PANEL_PATHS, resourcePath, STATUS_PATHS } from '../../spec/paths.ts';
import { componentName, isOver, type PublicIncident } from '../../spec/public-status.ts';
import { emptyState, pager, statusBadge, time } from '../parts/components.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';

/** Names of regions by code. */
export type RegionNames = ReadonlyMap<string, string>;

export function incidentView(incident: PublicIncident, regions: RegionNames): View {
  return {
    title: incident.title,
    section: 'status',
    breadcrumbs: STATUS_TRAIL,
    header: { status: stateBadge(incident), facts: facts(incident, regions) },
    body: html`<section aria-label="Updates">${updates(incident)}</section>`,
  };
}

export function historyView(data: {
  readonly incidents: readonly PublicIncident[];
  readonly regions: RegionNames;
  readonly first: string | null;
  readonly next: string | null;
}): View {
  const { incidents, regions } = data;
  return {
    title: 'Status history',
    pageName: 'History',
    feed: STATUS_PATHS.feed,
    section: 'status',
    breadcrumbs: STATUS_TRAIL,
    body: html`<p>Incidents and planned maintenance, newest first. <a
href="${STATUS_PATHS.feed}">Atom feed</a></p>
${
  incidents.length === 0
    ? emptyState('No incidents.', 'Incidents and planned maintenance are listed here.')
    : incidents.map((incident) => incidentArticle(incident, regions))
}
${pager(data)}`,
  };
}

const STATUS_TRAIL = [['Status', PANEL_PATHS.status]] as const;

/** An incident with its updates as a card. */
export function incidentArticle(incident: PublicIncident, regions: RegionNames): Html {
  const shown = facts(incident, regions).map((fact) => html`<li>${fact}</li>\n`);
  return html`<section class="incident" aria-labelledby="${incident.id}"><h2 id="${incident.id}"><a
href="${incidentPath(incident)}">${incident.title}</a> ${stateBadge(incident)}</h2>
<ul class="page-facts">${shown}</ul>
${updates(incident)}</section>`;
}

function facts({ kind, components, starts_at, ends_at, resolved_at }: PublicIncident, regions: RegionNames) {
  const until = resolved_at ?? ends_at;
  const names = components.map((component) => componentName(component, regions));
  return [
    kind === 'incident' ? 'Incident' : 'Planned maintenance',
    html`${time(starts_at)}${until !== null && html` to ${time(until)}`}`,
    html`Affects: ${names.length === 0 ? 'everything' : names.join(', ')}`,
  ];
}

function updates({ updates: all }: PublicIncident): Html {
  const items = all.map(
    ({ state, text, created_at }) => html`<li><p><strong>${STATE_NAMES[state ?? 'update']}</strong>
<span class="soft">${time(created_at)}</span></p>
<p class="lines">${text}</p></li>\n`,
  );
  return html`<ol class="updates">${items}</ol>`;
}

const STATE_NAMES = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
  update: 'Update',
} as const;

function stateBadge(incident: PublicIncident): Html {
  const { state } = incident;
  if (isOver(incident)) return statusBadge(state, state === 'canceled' ? 'off' : 'good');
  return statusBadge(state, state === 'scheduled' ? 'off' : 'busy');
}

function incidentPath({ id }: PublicIncident): string {
  return resourcePath(STATUS_PATHS.incidents, id);
}

/** Returns an Atom feed (RFC 4287): one entry for each incident, changed by each update. */
export function incidentFeed(data: {
  readonly site: string;
  readonly baseUrl: string;
  readonly incidents: readonly PublicIncident[];
  readonly regions: RegionNames;
  readonly now: string;
}): string {
  const { site, baseUrl, incidents, regions, now } = data;
  const updated = incidents.map(({ updated_at }) => updated_at).sort();
  const entries = incidents.map(
    (incident) => html`<entry>
<id>${baseUrl}${incidentPath(incident)}</id>
<title>${incident.title} (${incident.state})</title>
<link href="${baseUrl}${incidentPath(incident)}"/>
<published>${incident.updates.at(-1)?.created_at ?? incident.starts_at}</published>
<updated>${incident.updated_at}</updated>
<content type="html">${html`${incidentArticle(incident, regions)}`.text}</content>
</entry>
`,
  );
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${baseUrl}${PANEL_PATHS.status}</id>
<title>${site}: status</title>
<author><name>${site}</name></author>
<link href="${baseUrl}${PANEL_PATHS.status}"/>
<link rel="self" href="${baseUrl}${STATUS_PATHS.feed}"/>
<updated>${updated.at(-1) ?? now}</updated>
${entries}</feed>
`.text;
}
