/** The pages of actions: all of an account, and one with its steps. */
import { ACTION_COMMANDS, ACTION_STATUSES, type ActionResource } from '../../spec/action-commands.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath, serverPagePath } from '../../spec/paths.ts';
import type { Action } from '../../spec/schemas/action.ts';
import {
  ACTION_BADGES,
  actionTable,
  commandName,
  describeAction,
  progressBar,
  refreshWhileRunning,
} from '../parts/activity.ts';
import { detailList, emptyState, pager, section, table, time } from '../parts/components.ts';
import { Fields, type FormContext } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';
import type { View } from '../parts/layout.ts';
import { part } from '../parts/live.ts';

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
    ...refreshWhileRunning(actions),
    live: ['act_'],
    body: html`<p>Everything that takes time, of the last ${LIMITS.actionRetentionDays} days.</p>
${filterForm(data.forms, filter)}
${part(
  'list',
  actions.length > 0
    ? actionTable('Actions, newest first', actions, mainResource)
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

const STATUS_WORDS = { running: 'running', success: 'succeeded', error: 'failed' } as const;

function filterForm(forms: FormContext, filter: Readonly<Record<string, string>>): Html {
  const fields = new Fields(forms, 'filter');
  const any = ['', 'Any'] as const;
  const commands = ACTION_COMMANDS.map((command) => [command, commandName(command)] as const);
  const statuses = ACTION_STATUSES.map((status) => [status, STATUS_WORDS[status]] as const);
  return html`<form method="get" class="filters row" role="search" aria-label="Filter the actions">
${fields.select('command', 'Action', { value: filter.command ?? '', choices: [any, ...commands] })}
${fields.select('status', 'Status', { value: filter.status ?? '', choices: [any, ...statuses] })}
${fields.text('resource', 'Resource', { value: filter.resource ?? '', placeholder: 'srv_…', size: 20 })}
<button class="plain">Apply</button>
</form>`;
}

export function actionView(action: Action): View {
  const isRunning = action.status === 'running';
  const rows = action.steps.map((step) => [
    step.name,
    ACTION_BADGES[step.status],
    time(step.started_at),
    time(step.finished_at),
  ]);
  return {
    title: describeAction(action),
    section: 'servers',
    breadcrumbs: [
      ['Servers', PANEL_PATHS.servers],
      ['Actions', PANEL_PATHS.actions],
    ],
    ...refreshWhileRunning([action]),
    live: [action.id],
    body: html`${part(
      'facts',
      detailList([
        ['Status', ACTION_BADGES[action.status]],
        ['Progress', isRunning && progressBar(action)],
        ['Cause', action.error?.message ?? null],
        ['Cause code', action.error && html`<code>${action.error.code}</code>`],
        ...action.resources.map(({ type, id }) => [RESOURCE_NAMES[type], resourceLink(type, id)] as const),
        ['Started', time(action.created_at)],
        ['Finished', action.finished_at && time(action.finished_at)],
        ['Command', html`<code>${action.command}</code>`],
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

/** The first one is what the action changes; a server that it also concerns follows. */
function mainResource({ resources: [main] }: Action): Html {
  return main ? resourceLink(main.type, main.id) : html`–`;
}

function resourceLink(type: ActionResource, id: string): Html {
  const path = type === 'server' ? serverPagePath(id) : resourcePath(RESOURCE_LISTS[type], id);
  return html`<a href="${path}"><code>${id}</code></a>`;
}
