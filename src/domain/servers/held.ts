/** What a legal hold forbids: the end of the server's disk, whoever asks for it. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ServerAction } from '../../spec/states.ts';
import { findServerLevers } from '../../store/server-levers.ts';
import type { ServerRow } from '../../store/servers.ts';

/** What takes the disk, or what is on it. */
const ENDS_DISK: readonly ServerAction[] = ['destroy', 'rebuild', 'restore'];

/** Refuses with `jurisdictional_block`, naming the order, what would end the disk of a server that is held. */
export async function requireNotHeld(
  tx: Sql,
  server: Pick<ServerRow, 'id' | 'held_at'>,
  action: ServerAction,
): Promise<void> {
  if (server.held_at === null || !ENDS_DISK.includes(action)) return;
  const order = (await findServerLevers(tx, server.id))?.hold_order ?? 'a legal hold';
  fail('jurisdictional_block', {}, `Refused for legal reasons, the server must be kept: ${order}`);
}
