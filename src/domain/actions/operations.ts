/** Operations on servers, each with its action. */
import type { Sql } from '../../kernel/sql.ts';
import type { ActionCommand } from '../../spec/action-commands.ts';
import { type ActionEnd, insertAction } from '../../store/actions.ts';
import {
  findServerOperation,
  insertOperation,
  type OperationKind,
  type OperationRow,
  replaceOperation as replaceRow,
} from '../../store/servers/operations.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import type { Actor } from '../context.ts';
import { newAction } from './begin.ts';
import { endAction } from './end.ts';

const COMMANDS: Readonly<Record<OperationKind, ActionCommand>> = {
  provision: 'server.create',
  destroy: 'server.delete',
  stop: 'server.stop',
  start: 'server.start',
  reboot: 'server.reboot',
  rescue: 'server.rescue',
  rebuild: 'server.rebuild',
  restore: 'server.restore',
  suspend: 'server.suspend',
  move: 'server.move',
  resize: 'server.resize',
  insert_iso: 'server.insert_iso',
  eject_iso: 'server.eject_iso',
  set_boot: 'server.set_boot',
};

export const OPERATION_KINDS = Object.keys(COMMANDS) as readonly OperationKind[];

export function commandOf(kind: OperationKind): ActionCommand {
  return COMMANDS[kind];
}

export type ServerIds = Pick<ServerRow, 'id' | 'customer_id'>;

export interface NewOperation
  extends Pick<OperationRow, 'id' | 'kind' | 'step'>,
    Partial<Pick<OperationRow, 'payload_sealed' | 'snapshot_id' | 'placed_at'>> {
  /** Whose request started it. Omitted: the service did. */
  readonly actor?: Pick<Actor, 'requestId'> | undefined;
  readonly now: Date;
}

/** Starts an operation, due now. The caller holds the server's lock and found no other operation. */
export async function startOperation(tx: Sql, server: ServerIds, operation: NewOperation): Promise<void> {
  const { actor: _, ...row } = operation;
  await insertAction(tx, actionOf(server, operation));
  await insertOperation(tx, { ...row, server_id: server.id, action_id: operation.id });
}

/**
 * Starts an operation that replaces the current one, whose action ends. `continued`: it does the same work
 * elsewhere, so it keeps the action. The caller holds the server's lock.
 */
export async function replaceOperation(
  tx: Sql,
  server: ServerIds,
  operation: NewOperation,
  previous: ActionEnd | 'continued',
): Promise<void> {
  const { actor: _, ...row } = operation;
  const replaced = await findServerOperation(tx, server.id);
  const kept = previous === 'continued' ? (replaced?.action_id ?? null) : null;
  if (replaced && previous !== 'continued') await endAction(tx, replaced.action_id, previous, operation.now);
  if (kept === null) await insertAction(tx, actionOf(server, operation));
  await replaceRow(tx, {
    payload_sealed: null,
    ...row,
    server_id: server.id,
    action_id: kept ?? operation.id,
  });
}

/** The action of an operation. The server is what it is about. */
function actionOf(server: ServerIds, { id, kind, step, actor, now }: NewOperation) {
  return newAction({
    id,
    customerId: server.customer_id,
    command: COMMANDS[kind],
    resourceId: server.id,
    serverId: server.id,
    operationStep: step,
    actor,
    now,
  });
}
