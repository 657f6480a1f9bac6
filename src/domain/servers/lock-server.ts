/** The check before every server action: the server exists, allows the action, is not held, and is idle. */
import { fail, notFound, refuseProtected } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { can, explainDenial, mustWaitForOperation, type ServerAction } from '../../spec/states.ts';
import { hasOperation } from '../../store/servers/operations.ts';
import { findServerControls } from '../../store/servers/operator.ts';
import { lockOwnServer, type ServerRow } from '../../store/servers/servers.ts';

/**
 * Locks the customer's server by its public id. Refuses with `not_found` (unknown, malformed, another
 * customer's), with `conflict_state` if its status forbids the action or another operation is running, and
 * with `jurisdictional_block` if a legal hold forbids it, and with `protected` if its customer protected it.
 */
export async function lockServerFor(
  tx: Sql,
  customerId: string,
  publicId: string,
  action: ServerAction,
): Promise<ServerRow> {
  const id = parseId('server', publicId) ?? notFound('server');
  const server = (await lockOwnServer(tx, customerId, id)) ?? notFound('server');
  await requireReadyFor(tx, server, action);
  return server;
}

/** Refuses as `lockServerFor` does, for a server that may not be locked. */
export async function requireReadyFor(tx: Sql, server: ServerRow, action: ServerAction): Promise<void> {
  requireActionAllowed(server, action);
  await requireNoLegalHold(tx, server, action);
  requireUnprotected(server, action);
  if (mustWaitForOperation(action) && (await hasOperation(tx, server.id))) {
    fail('conflict_state', {}, 'Another operation is running on this server. Try again when it is done.');
  }
}

export function requireActionAllowed(
  server: Pick<ServerRow, 'status' | 'suspended_reason'>,
  action: ServerAction,
): void {
  const state = { status: server.status, suspendedReason: server.suspended_reason };
  if (can(state, action)) return;
  if (EXPLAINED.includes(action)) fail('wrong_state', { field: 'status' }, explainDenial(state, action));
  fail('conflict_state', {}, explainDenial(state, action));
}

/** Actions since version 1.7, whose refusals name the field. */
const EXPLAINED: readonly ServerAction[] = ['resize', 'insert_iso', 'eject_iso', 'set_boot'];

/** A server that is being deleted accepts its deletion again. */
function requireUnprotected(server: ServerRow, action: ServerAction): void {
  if (action === 'destroy' && server.protect_delete && server.status !== 'destroying') {
    refuseProtected('delete', 'The server is protected against deletion.');
  }
  if ((action === 'rebuild' || action === 'restore') && server.protect_rebuild) {
    refuseProtected('rebuild', 'The server is protected against rebuild and restore.');
  }
}

/** Actions that remove the disk or its content. */
const DISK_DESTROYING_ACTIONS: readonly ServerAction[] = ['destroy', 'rebuild', 'restore'];

/**
 * Refuses with `jurisdictional_block`, naming the order, an action that would destroy the disk of a
 * server under a legal hold.
 */
async function requireNoLegalHold(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'held_at'>,
  action: ServerAction,
): Promise<void> {
  if (server.held_at === null || !DISK_DESTROYING_ACTIONS.includes(action)) return;
  const order = (await findServerControls(tx, server.id))?.hold_order ?? 'a legal hold';
  fail('jurisdictional_block', {}, `This server is under a legal hold and must be preserved: ${order}`);
}
