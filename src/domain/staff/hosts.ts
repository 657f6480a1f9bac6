/** Hosts as staff read them: how full they are, and how they were last seen. */
import { fail } from '../../kernel/fail.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { listSeenHosts, type SeenHostRow } from '../../store/inventory/host-facts.ts';
import type { Service } from '../context.ts';

export type HostObject = ReturnType<typeof toHostObject>;

export async function listHostObjects({ db }: Pick<Service, 'db'>): Promise<HostObject[]> {
  return (await listSeenHosts(db)).map(toHostObject);
}

/** Fails with `not_found`. */
export async function readHostObject({ db }: Pick<Service, 'db'>, name: string): Promise<HostObject> {
  const [row] = await listSeenHosts(db, name);
  return toHostObject(row ?? fail('not_found', {}, 'No host has this name.'));
}

function toHostObject(row: SeenHostRow) {
  return {
    object: 'host' as const,
    id: row.name,
    region: row.region_id,
    /** Null: the machine that the service runs on. */
    backend: row.backend,
    state: stateOf(row),
    draining: row.draining,
    cores: row.cpu,
    ram_mb: row.promised_ram_mb,
    used_ram_mb: Number(row.used_ram_mb),
    disk_gb: row.promised_disk_gb,
    used_disk_gb: Number(row.used_disk_gb),
    reserve_ram_mb: row.reserve_ram_mb,
    reserve_disk_gb: row.reserve_disk_gb,
    servers: Number(row.servers),
    volumes: Number(row.volumes),
    snapshots: Number(row.snapshots),
    moves: Number(row.moves),
    tags: row.tags,
    version: row.version,
    load: row.load,
    ram_available_mb: row.ram_available_mb,
    disk_free_gb: row.disk_free_gb,
    seen_at: row.seen_at && formatRfc3339(row.seen_at),
    away_since: row.away_since && formatRfc3339(row.away_since),
    lost_at: row.lost_at && formatRfc3339(row.lost_at),
  };
}

function stateOf(row: SeenHostRow): 'ok' | 'lost' | 'revoked' | 'away' | 'drained' | 'not_seen' {
  if (row.lost_at) return 'lost';
  if (row.revoked) return 'revoked';
  if (row.away_since) return 'away';
  if (row.draining) return 'drained';
  return row.seen_at ? 'ok' : 'not_seen';
}
