/** What is let through in front of a server beside its filter. */
import type { Sql } from '../kernel/sql.ts';
import type { ServerStatus } from '../spec/states.ts';

export interface TrafficRow {
  readonly status: ServerStatus;
  readonly first_run_at: Date | null;
  readonly machine_id: string | null;
  /** Over its transfer of the month, and therefore slow. */
  readonly throttled: boolean;
  /** May reach others' mail servers. */
  readonly mail_allowed: boolean;
}

/** Undefined when there is no such server. */
export async function readTraffic(tx: Sql, serverId: string): Promise<TrafficRow | undefined> {
  return await tx.row<TrafficRow>(
    'select status, first_run_at, machine_id, throttled, mail_allowed from servers where id = $1',
    [serverId],
  );
}

/** False when it is so already. The caller holds the server's lock. */
export async function setMailAllowed(tx: Sql, serverId: string, allowed: boolean): Promise<boolean> {
  const changed = await tx.run('update servers set mail_allowed = $2 where id = $1 and mail_allowed <> $2', [
    serverId,
    allowed,
  ]);
  return changed === 1;
}
