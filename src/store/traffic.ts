/** Traffic limits of a server, enforced outside the guest in addition to its firewall. */
import type { Sql } from '../kernel/sql.ts';
import type { ServerStatus } from '../spec/states.ts';

export interface TrafficRow {
  readonly status: ServerStatus;
  readonly first_run_at: Date | null;
  readonly machine_id: string | null;
  /** Over its monthly transfer, so its bandwidth is limited. */
  readonly throttled: boolean;
  /** May connect to external mail servers. */
  readonly mail_allowed: boolean;
}

/** Returns undefined when the server does not exist. */
export async function readTraffic(tx: Sql, serverId: string): Promise<TrafficRow | undefined> {
  return await tx.row<TrafficRow>(
    'select status, first_run_at, machine_id, throttled, mail_allowed from servers where id = $1',
    [serverId],
  );
}

/** Returns false when nothing changes. The caller holds the server's lock. */
export async function setMailAllowed(tx: Sql, serverId: string, allowed: boolean): Promise<boolean> {
  const changed = await tx.run('update servers set mail_allowed = $2 where id = $1 and mail_allowed <> $2', [
    serverId,
    allowed,
  ]);
  return changed === 1;
}
