/** Detaches everything from a server that is about to be destroyed. Its snapshots stay. */
import type { Sql } from '../../kernel/sql.ts';
import { detachFromAllGroups } from '../../store/firewall.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import { detachServerVolumes } from '../volumes/detach-server-volumes.ts';

/** Runs in the caller's transaction, which holds the server's lock. */
export async function releaseServerResources(tx: Sql, server: ServerRow, now: Date): Promise<void> {
  await detachServerVolumes(tx, server.id, now);
  await detachFromAllGroups(tx, server.id);
}
