/** Begins actions, in the transaction that starts their work. */
import { formatId, newId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import {
  ACTION_STEPS,
  type ActionCommand,
  type ActionResource,
  actionPosition,
  actionStepNames,
} from '../../spec/action-commands.ts';
import { type ActionRow, insertAction } from '../../store/actions.ts';
import type { Actor } from '../context.ts';
import { recordEvent } from '../record.ts';
import { actionObject } from './object.ts';

export interface NewAction {
  /** Generated if omitted. */
  readonly id?: string;
  readonly customerId: string;
  readonly command: ActionCommand;
  readonly resourceId: string;
  readonly serverId?: string | null;
  /** The first step of its operation; without one, the first step of the action. */
  readonly operationStep?: string;
  /** Whose request began it. Omitted: the service did. */
  readonly actor?: Pick<Actor, 'requestId'> | undefined;
  readonly now: Date;
}

/** Builds the action as it begins, without writing it. */
export function newAction(action: NewAction): ActionRow {
  const { command, now } = action;
  const start = action.operationStep === undefined ? null : actionPosition(command, action.operationStep);
  const { begun, progress } = start ?? { begun: 1, progress: ACTION_STEPS[command][0].from };
  return {
    id: action.id ?? newId(now),
    customer_id: action.customerId,
    command,
    status: 'running',
    resource_kind: command.split('.')[0] as ActionResource,
    resource_id: action.resourceId,
    server_id: action.serverId ?? null,
    steps: actionStepNames(command),
    step_times: Array.from({ length: begun }, () => now),
    progress,
    error_code: null,
    error_message: null,
    request_id: action.actor?.requestId ?? formatId('request', newId(now)),
    created_at: now,
    finished_at: null,
  };
}

export async function beginAction(tx: Sql, action: NewAction): Promise<ActionRow> {
  const row = newAction(action);
  await insertAction(tx, row);
  return row;
}

/** Records work that the request itself completes. */
export async function recordDone(tx: Sql, action: NewAction): Promise<ActionRow> {
  const { now, customerId } = action;
  const begun = newAction(action);
  const times = begun.steps.map(() => now);
  const row = { ...begun, status: 'success', step_times: times, progress: 100, finished_at: now } as const;
  await insertAction(tx, row);
  await recordEvent(tx, { customerId, type: 'action.success', object: actionObject(row) }, now);
  return row;
}
