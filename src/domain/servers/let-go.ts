/** What a server that is to be destroyed lets go of. Its snapshots stay. */
import type { Sql } from '../../kernel/sql.ts';
import { leaveGroups } from '../../store/firewall.ts';
import type { ServerRow } from '../../store/servers.ts';
import { detachVolumesOf } from '../volumes/detach-all.ts';

/** In the caller's transaction, which holds the server's lock. */
export async function letGo(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  await detachVolumesOf(tx, server.id, now);
  await leaveGroups(tx, server.id);
}
