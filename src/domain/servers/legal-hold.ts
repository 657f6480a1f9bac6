/** What a legal hold forbids: the end of the server's disk, whoever asks for it. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ServerAction } from '../../spec/states.ts';
import { findServerControls } from '../../store/server-controls.ts';
import type { ServerRow } from '../../store/servers.ts';

/** What takes the disk, or what is on it. */
const DISK_DESTROYING_ACTIONS: readonly ServerAction[] = ['destroy', 'rebuild', 'restore'];

/** Refuses with `jurisdictional_block`, naming the order, what would end the disk of a server that is held. */
export async function requireNoLegalHold(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'held_at'>,
  action: ServerAction,
): Promise<void> {
  if (server.held_at === null || !DISK_DESTROYING_ACTIONS.includes(action)) return;
  const order = (await findServerControls(tx, server.id))?.hold_order ?? 'a legal hold';
  fail('jurisdictional_block', {}, `Refused for legal reasons, the server must be kept: ${order}`);
}
