/** Enforces a legal hold: no request may destroy the server's disk. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ServerAction } from '../../spec/states.ts';
import { findServerControls } from '../../store/servers/operator.ts';
import type { ServerRow } from '../../store/servers/servers.ts';

/** Actions that remove the disk or its content. */
const DISK_DESTROYING_ACTIONS: readonly ServerAction[] = ['destroy', 'rebuild', 'restore'];

/**
 * Refuses with `jurisdictional_block`, naming the order, an action that would destroy the disk of a
 * server under a legal hold.
 */
export async function requireNoLegalHold(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'held_at'>,
  action: ServerAction,
): Promise<void> {
  if (server.held_at === null || !DISK_DESTROYING_ACTIONS.includes(action)) return;
  const order = (await findServerControls(tx, server.id))?.hold_order ?? 'a legal hold';
  fail('jurisdictional_block', {}, `This server is under a legal hold and must be preserved: ${order}`);
}
