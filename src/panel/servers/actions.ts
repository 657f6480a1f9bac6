/** Actions: what takes time, how far it is, and why it failed. */
import { ACTION_COMMANDS, ACTION_STATUSES, type ActionResource } from '../../spec/action-commands.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath, serverPagePath } from '../../spec/paths.ts';
import type { Action, ActionSummary } from '../../spec/schemas/action.ts';
import { detailList, emptyState, pager, section, statusBadge, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part, stepList } from '../parts/live.ts';

const STATUSES = {
  running: statusBadge('running', 'busy'),
  success: statusBadge('succeeded', 'good'),
  error: statusBadge('failed', 'bad'),
  pending: statusBadge('pending'),
} as const;

const REFRESH_S = 5;

/** How far a running action is. */
export function progressBar({ command, progress }: Pick<ActionSummary, 'command' | 'progress'>): Html {
  return html`<progress max="100" value="${String(progress)}" aria-label="Progress of ${command}"></progress>
${String(progress)}%`;
}

const STEP_STATES = { success: 'done', running: 'now', pending: 'next', error: 'failed' } as const;

/** The steps of an action in order, as far as they are. */
export function actionSteps({ command, steps }: Action): Html {
  const shown = steps.map(({ name, status }) => [name.replace('_', ' '), STEP_STATES[status]] as const);
  return stepList(`Steps of ${command}`, shown);
}

/** Rows of any list of actions. */
function actionTable(caption: string, actions: readonly Action[]): Html {
  const rows = actions.map((action) => [
    html`<a href="${resourcePath(PANEL_PATHS.actions, action.id)}">${time(action.created_at)}</a>`,
    html`<code>${action.command}</code>`,
    STATUSES[action.status],
    action.status === 'running' ? progressBar(action) : (action.error?.message ?? '–'),
  ]);
  return table({ caption, columns: ['Time', 'Action', 'Status', 'Progress or cause'], rows });
}

/** The latest actions of a server, on its own page. */
export function recentActions(serverId: string, actions: readonly Action[]): Html {
  if (actions.length === 0) return html`<p>No actions in the last ${LIMITS.actionRetentionDays} days.</p>`;
  const query = new URLSearchParams({ resource: serverId }).toString();
  return html`${actionTable('Latest actions, newest first', actions)}
<p><a href="${PANEL_PATHS.actions}?${query}">All actions of this server</a></p>`;
}

export function actionListView(data: {
  readonly actions: readonly Action[];
  readonly filter: Readonly<Record<string, string>>;
  readonly next: string | null;
  readonly first: string | null;
  readonly forms: FormContext;
}): View {
  const { actions, filter } = data;
  const isFiltered = Object.keys(filter).length > 0;
  return {
    title: 'Actions',
    section: 'servers',
    breadcrumbs: [['Servers', PANEL_PATHS.servers]],
    ...(actions.some(({ status }) => status === 'running') ? { refreshS: REFRESH_S } : {}),
    live: ['act_'],
    body: html`<p>Everything that takes time, of the last ${LIMITS.actionRetentionDays} days.</p>
${filterForm(data.forms, filter)}
${part(
  'list',
  actions.length > 0
    ? actionTable('Actions, newest first', actions)
    : emptyState(
        isFiltered ? 'No matching actions.' : 'No actions yet.',
        isFiltered
          ? html`<a href="${PANEL_PATHS.actions}">Clear filters</a>`
          : 'What you start will be listed here.',
      ),
)}
${pager(data)}`,
  };
}

function filterForm(forms: FormContext, filter: Readonly<Record<string, string>>): Html {
  const fields = new Fields(forms, 'filter');
  const choicesOf = (words: readonly string[]) => [
    ['', 'Any'] as const,
    ...words.map((word) => [word, word] as const),
  ];
  return html`<form method="get" class="filters row" role="search" aria-label="Filter the actions">
${fields.select('command', 'Action', { value: filter.command ?? '', choices: choicesOf(ACTION_COMMANDS) })}
${fields.select('status', 'Status', { value: filter.status ?? '', choices: choicesOf(ACTION_STATUSES) })}
${fields.text('resource', 'Resource', { value: filter.resource ?? '', placeholder: 'srv_…', size: 20 })}
<button class="plain">Apply</button>
</form>`;
}

export function actionView(action: Action): View {
  const isRunning = action.status === 'running';
  const rows = action.steps.map((step) => [
    step.name,
    STATUSES[step.status],
    time(step.started_at),
    time(step.finished_at),
  ]);
  return {
    title: action.command,
    section: 'servers',
    breadcrumbs: [
      ['Servers', PANEL_PATHS.servers],
      ['Actions', PANEL_PATHS.actions],
    ],
    ...(isRunning ? { refreshS: REFRESH_S } : {}),
    live: [action.id],
    body: html`${part(
      'facts',
      detailList([
        ['Status', STATUSES[action.status]],
        ['Progress', isRunning && progressBar(action)],
        ['Cause', action.error?.message ?? null],
        ['Cause code', action.error && html`<code>${action.error.code}</code>`],
        ...action.resources.map(({ type, id }) => [RESOURCE_NAMES[type], resourceLink(type, id)] as const),
        ['Started', time(action.created_at)],
        ['Finished', action.finished_at && time(action.finished_at)],
        ['Request ID', html`<code>${action.request_id}</code>`],
        ['ID', html`<code>${action.id}</code>`],
      ]),
      'Status',
    )}
${part('steps', section('Steps', table({ caption: 'Steps, in order', columns: STEP_COLUMNS, rows })))}`,
  };
}

const STEP_COLUMNS = ['Step', 'Status', 'Began', 'Ended'];

const RESOURCE_NAMES: Readonly<Record<ActionResource, string>> = {
  server: 'Server',
  volume: 'Volume',
  snapshot: 'Snapshot',
  image: 'Image',
};

const RESOURCE_LISTS = {
  volume: PANEL_PATHS.volumes,
  snapshot: PANEL_PATHS.snapshots,
  image: PANEL_PATHS.images,
} as const;

function resourceLink(type: ActionResource, id: string): Html {
  const path = type === 'server' ? serverPagePath(id) : resourcePath(RESOURCE_LISTS[type], id);
  return html`<a href="${path}">${id}</a>`;
}
