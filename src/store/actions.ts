/** Actions: begun, advanced, and ended in the transaction of the work that they describe. */
import { ID_PREFIXES, type IdKind, parseId } from '../kernel/ids.ts';
import type { Sql } from '../kernel/sql.ts';
import type {
  ActionCommand,
  ActionErrorCode,
  ActionResource,
  ActionStatus,
} from '../spec/action-commands.ts';
import type { PageRequest } from '../spec/lists.ts';
import { BY_CREATION, type Page, readPage } from './page.ts';
import { parametersFor } from './parameters.ts';

export interface ActionRow {
  readonly id: string;
  readonly customer_id: string;
  readonly command: ActionCommand;
  readonly status: ActionStatus;
  readonly resource_kind: ActionResource;
  readonly resource_id: string;
  /** The server that it also concerns. */
  readonly server_id: string | null;
  readonly steps: readonly string[];
  /** When the steps began, as far as they have: each one ends when the next one begins. */
  readonly step_times: readonly Date[];
  readonly progress: number;
  readonly error_code: ActionErrorCode | null;
  readonly error_message: string | null;
  readonly request_id: string;
  readonly created_at: Date;
  readonly finished_at: Date | null;
}

const COLUMNS = `id, customer_id, command, status, resource_kind, resource_id, server_id, steps, step_times,
  progress, error_code, error_message, request_id, created_at, finished_at`;

export async function insertAction(tx: Sql, row: ActionRow): Promise<void> {
  await tx.run(`insert into actions (${COLUMNS}) values (${parametersFor(COLUMNS)})`, row);
}

/** How an action ends. */
export interface ActionEnd {
  readonly status: 'success' | 'error';
  readonly code: ActionErrorCode | null;
  readonly message: string | null;
}

/**
 * Ends those of the actions that are running, and returns them. On success, steps that were skipped have
 * begun and ended now.
 */
export async function endActions(
  tx: Sql,
  ids: readonly string[],
  end: ActionEnd & { readonly now: Date },
): Promise<ActionRow[]> {
  return await tx.rows<ActionRow>(
    `update actions
        set status = $status, error_code = $code, error_message = $message, finished_at = $now,
            progress = case when $status = 'success' then 100 else progress end,
            step_times = case when $status = 'success' then step_times ||
              array_fill($now::timestamptz, array[cardinality(steps) - cardinality(step_times)])
              else step_times end
      where id = any($ids::uuid[]) and status = 'running' returning ${COLUMNS}`,
    { ids, ...end },
  );
}

/**
 * SQL that puts an action at `$begun` and `$progress`: steps that it skipped have begun now, and a step that
 * it returned to begins again.
 */
export const SET_POSITION = `progress = $progress,
  step_times = case when cardinality(step_times) < $begun
    then step_times || array_fill($at::timestamptz, array[$begun - cardinality(step_times)])
    else step_times[1:$begun - 1] || $at::timestamptz end`;

/** Returns the ids of the actions that run on the resource, the oldest first. */
export async function listRunningActions(
  tx: Sql,
  resourceId: string,
): Promise<{ readonly id: string; readonly command: ActionCommand }[]> {
  return await tx.rows(
    `select id, command from actions where resource_id = $1 and status = 'running' order by id`,
    [resourceId],
  );
}

/** The action that a resource shows: the latest of those that run on it. Columns of a resource's row. */
export interface ShownAction {
  readonly action_id: string | null;
  readonly action_command: ActionCommand | null;
  readonly action_progress: number | null;
}

export const NO_ACTION: ShownAction = { action_id: null, action_command: null, action_progress: null };

export const ACTION_COLUMNS = 'action_id, action_command, action_progress';

/** A lateral join that gives the columns above. `id` is the resource's id. */
export function joinAction(id: string): string {
  return `left join lateral (
    select id as action_id, command as action_command, progress as action_progress from actions
     where resource_id = ${id} and status = 'running' order by id desc limit 1) x on true`;
}

export async function findAction(tx: Sql, customerId: string, id: string): Promise<ActionRow | undefined> {
  return await tx.row<ActionRow>(`select ${COLUMNS} from actions where id = $1 and customer_id = $2`, [
    id,
    customerId,
  ]);
}

/** The resources that have actions, by the kind of their ids. Official images have none. */
const RESOURCE_KINDS = {
  server: 'server',
  volume: 'volume',
  snapshot: 'snapshot',
  customImage: 'image',
} as const satisfies Partial<Record<IdKind, ActionResource>>;
type ResourceIdKind = keyof typeof RESOURCE_KINDS;

function idKindOf(shown: string): ResourceIdKind | undefined {
  const kinds = Object.keys(RESOURCE_KINDS) as ResourceIdKind[];
  return kinds.find((kind) => shown.startsWith(ID_PREFIXES[kind]));
}

/** Parses the public id of any resource that has actions. */
function parseResource(shown: string): string | undefined {
  const kind = idKindOf(shown);
  return kind && parseId(kind, shown);
}

/** Pages through the customer's actions. Filters: `status`, `command`, `resource`. */
export async function pageActions(tx: Sql, customerId: string, page: PageRequest): Promise<Page<ActionRow>> {
  const kind = idKindOf(page.filter.resource ?? '');
  const ofKind = kind ? ` and resource_kind = '${RESOURCE_KINDS[kind]}'` : '';
  return await readPage<ActionRow>(
    tx,
    {
      columns: COLUMNS,
      from: 'actions',
      where: `customer_id = $customerId${ofKind}`,
      values: { customerId },
      sorts: BY_CREATION,
      filters: {
        status: { where: 'status = $status', indexed: true },
        command: { where: 'command = $command', indexed: true },
        resource: { where: 'resource_id = $resource', indexed: true, value: parseResource },
      },
    },
    page,
  );
}
