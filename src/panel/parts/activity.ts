/** Activity: what takes time on a resource, how far it is, and why it failed. */
import type { ActionCommand } from '../../spec/action-commands.ts';
import { LIMITS } from '../../spec/limits.ts';
import { PANEL_PATHS, resourcePath } from '../../spec/paths.ts';
import type { Action, ActionSummary } from '../../spec/schemas/action.ts';
import { section, statusBadge, table, time } from './components.ts';
import { type Html, html } from './html.ts';
import { part, stepList } from './live.ts';

/** Each command when it is done, while it runs, and as a request. */
const COMMAND_WORDS: Readonly<Record<ActionCommand, readonly [done: string, now: string, asked: string]>> = {
  'server.create': ['Server created', 'Creating server', 'Create server'],
  'server.delete': ['Server deleted', 'Deleting server', 'Delete server'],
  'server.start': ['Server powered on', 'Powering on server', 'Power on server'],
  'server.stop': ['Server shut down', 'Shutting down server', 'Shut down server'],
  'server.reboot': ['Server restarted', 'Restarting server', 'Restart server'],
  'server.rescue': ['Rescue system booted', 'Booting rescue system', 'Boot rescue system'],
  'server.resize': ['Server resized', 'Resizing server', 'Resize server'],
  'server.insert_iso': ['ISO image inserted', 'Inserting ISO image', 'Insert ISO image'],
  'server.eject_iso': ['ISO image ejected', 'Ejecting ISO image', 'Eject ISO image'],
  'server.set_boot': ['Boot order changed', 'Changing boot order', 'Change boot order'],
  'server.rebuild': ['Server rebuilt', 'Rebuilding server', 'Rebuild server'],
  'server.restore': ['Server restored', 'Restoring server', 'Restore server'],
  'server.suspend': ['Server suspended', 'Suspending server', 'Suspend server'],
  'server.move': ['Server moved to another host', 'Moving server to another host', 'Move server'],
  'volume.create': ['Volume created', 'Creating volume', 'Create volume'],
  'volume.attach': ['Volume attached', 'Attaching volume', 'Attach volume'],
  'volume.detach': ['Volume detached', 'Detaching volume', 'Detach volume'],
  'volume.resize': ['Volume resized', 'Resizing volume', 'Resize volume'],
  'volume.delete': ['Volume deleted', 'Deleting volume', 'Delete volume'],
  'snapshot.create': ['Snapshot created', 'Creating snapshot', 'Create snapshot'],
  'snapshot.delete': ['Snapshot deleted', 'Deleting snapshot', 'Delete snapshot'],
  'image.create': ['Image uploaded', 'Checking image', 'Upload image'],
};

export const ACTION_BADGES = {
  running: statusBadge('running', 'busy'),
  success: statusBadge('succeeded', 'good'),
  error: statusBadge('failed', 'bad'),
  pending: statusBadge('pending'),
} as const;

/** `Create server`: the command in words, for a choice. */
export function commandName(command: ActionCommand): string {
  return COMMAND_WORDS[command][2];
}

/** `Server created`, `Creating server`, or, after a failure, `Create server`. */
export function describeAction({ command, status }: Pick<Action, 'command' | 'status'>): string {
  const [done, now, asked] = COMMAND_WORDS[command];
  return { success: done, running: now, error: asked }[status];
}

/** How far a running action is. */
export function progressBar({ command, progress }: Pick<ActionSummary, 'command' | 'progress'>): Html {
  const [, now] = COMMAND_WORDS[command];
  return html`<progress max="100" value="${String(progress)}" aria-label="${now}"></progress>
${String(progress)}%`;
}

const STEP_STATES = { success: 'done', running: 'now', pending: 'next', error: 'failed' } as const;

/** The steps of an action in order, as far as they are. */
export function actionSteps(action: Action): Html {
  const steps = action.steps.map(
    ({ name, status }) => [name.replace('_', ' '), STEP_STATES[status]] as const,
  );
  return stepList(`${describeAction(action)}: steps`, steps);
}

/** Rows of any list of actions. `resource` shows what each one is about. */
export function actionTable(
  caption: string,
  actions: readonly Action[],
  resource?: (action: Action) => Html,
): Html {
  const rows = actions.map((action) => [
    html`<a href="${resourcePath(PANEL_PATHS.actions, action.id)}">${time(action.created_at)}</a>`,
    describeAction(action),
    ...(resource ? [resource(action)] : []),
    ACTION_BADGES[action.status],
    action.status === 'running' ? progressBar(action) : (action.error?.message ?? '–'),
  ]);
  const columns = ['Time', 'Action', ...(resource ? ['Resource'] : []), 'Status', 'Progress or cause'];
  return table({ caption, columns, rows });
}

/** The latest actions of a resource on its own page, which updates on its own. */
export function activityPart(resourceId: string, noun: string, actions: readonly Action[]): Html {
  const query = new URLSearchParams({ resource: resourceId }).toString();
  const list =
    actions.length === 0
      ? html`<p>No activity in the last ${LIMITS.actionRetentionDays} days.</p>`
      : html`${actionTable('Latest activity, newest first', actions)}
<p><a href="${PANEL_PATHS.actions}?${query}">All activity of this ${noun}</a></p>`;
  return part('activity', section('Activity', list));
}

/** Seconds between reloads of a page that shows a running action. */
const REFRESH_S = 5;

/** The reloads of a page with these actions: none once all have ended. */
export function refreshWhileRunning(actions: readonly Action[]): { readonly refreshS?: number } {
  return actions.some(({ status }) => status === 'running') ? { refreshS: REFRESH_S } : {};
}
