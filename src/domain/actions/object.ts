/** Actions as the REST contract shows them. */
import { formatId, type IdKind } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { ActionResource } from '../../spec/action-commands.ts';
import type { Action, ActionSummary } from '../../spec/schemas/action.ts';
import type { ActionRow, ShownAction } from '../../store/actions.ts';

/** Official images have no actions. */
export const RESOURCE_ID_KINDS: Readonly<Record<ActionResource, IdKind>> = {
  server: 'server',
  volume: 'volume',
  snapshot: 'snapshot',
  image: 'customImage',
};

export function actionObject(row: ActionRow): Action {
  return {
    id: formatId('action', row.id),
    object: 'action',
    command: row.command,
    status: row.status,
    progress: row.progress,
    steps: row.steps.map((name, i) => stepObject(row, name, i)),
    resources: resourcesOf(row),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    request_id: row.request_id,
    created_at: formatRfc3339(row.created_at),
    finished_at: row.finished_at && formatRfc3339(row.finished_at),
  };
}

/** A step ends when the next one begins, and the latest one ends with the action. */
function stepObject(row: ActionRow, name: string, i: number): Action['steps'][number] {
  const startedAt = row.step_times[i] ?? null;
  const nextAt = row.step_times[i + 1];
  const finishedAt = startedAt && (nextAt ?? row.finished_at);
  return {
    name,
    status: startedAt === null ? 'pending' : nextAt ? 'success' : row.status,
    started_at: startedAt && formatRfc3339(startedAt),
    finished_at: finishedAt && formatRfc3339(finishedAt),
  };
}

function resourcesOf(row: ActionRow): Action['resources'] {
  const { resource_kind: type, resource_id: id, server_id: server } = row;
  const named = { type, id: formatId(RESOURCE_ID_KINDS[type], id) };
  if (server === null || server === id) return [named];
  return [named, { type: 'server', id: formatId('server', server) }];
}

/** The action that a resource shows while it runs. */
export function shownAction(row: Partial<ShownAction>): ActionSummary | null {
  const { action_id: id, action_command: command, action_progress: progress } = row;
  if (id == null || command == null) return null;
  return { id: formatId('action', id), command, status: 'running', progress: progress ?? 0 };
}

const begun = new WeakSet<ActionSummary>();

/** The action that a request began, in its response. */
export function beganAction(row: ActionRow): ActionSummary {
  const { id, command, status, progress } = row;
  return asBegun({ id: formatId('action', id), command, status, progress });
}

/** Marks the action that a resource shows as begun by this request. */
export function asBegun<Action extends ActionSummary | null>(action: Action): Action {
  if (action !== null) begun.add(action);
  return action;
}

/** False for the action of an earlier request, which an update may show. */
export function wasBegunNow(action: ActionSummary): boolean {
  return begun.has(action);
}

/** The action that a request without a response body began. */
export interface BeganAction {
  readonly action: ActionSummary;
}
