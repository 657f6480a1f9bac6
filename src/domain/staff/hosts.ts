/** Hosts as staff read them: how full they are, and how they were last seen. */
import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { type CountedHostRow, listCountedHosts, type SeenHostRow } from '../../store/inventory/host-facts.ts';
import { listMoves } from '../../store/servers/moves.ts';
import type { Service } from '../context.ts';
import { describeHost } from '../health/hosts.ts';
import { describeMove } from '../servers/moves/describe.ts';
import { listServersForOperator } from '../servers/operator/find.ts';
import { toServerObject } from './objects.ts';
import type { ServerObject } from './servers.ts';

export type HostObject = ReturnType<typeof toHostObject>;

export async function listHostObjects({ db }: Pick<Service, 'db'>): Promise<HostObject[]> {
  return (await listCountedHosts(db)).map(toHostObject);
}

/** Fails with `not_found`. */
export async function readHostObject({ db }: Pick<Service, 'db'>, name: string): Promise<HostObject> {
  const [row] = await listCountedHosts(db, name);
  return toHostObject(row ?? fail('not_found', {}, 'No host has this name.'));
}

export interface StaffHost extends HostObject {
  readonly findings: readonly { readonly level: string; readonly message: string }[];
  readonly contents: readonly ServerObject[];
  /** To and from it. */
  readonly moving: readonly {
    /** Of a server, volume, or snapshot. */
    readonly id: string;
    readonly kind: string;
    readonly from: string;
    readonly to: string | null;
    readonly state: string;
    readonly attempts: number;
    readonly last_fault: string | null;
  }[];
}

const CONTENTS_MAX = 200;

/** A host with the servers on it. Fails with `not_found`. */
export async function readHostForStaff(service: Pick<Service, 'db'>, name: string): Promise<StaffHost> {
  const { db } = service;
  const [row] = await listCountedHosts(db, name);
  if (row === undefined) fail('not_found', {}, 'No host has this name.');
  const { servers } = await listServersForOperator(service, { host: name, limit: CONTENTS_MAX });
  const moves = await listMoves(db, { host: name, limit: CONTENTS_MAX });
  return {
    ...toHostObject(row),
    findings: describeHost(row),
    contents: servers.map(toServerObject),
    moving: moves.map((move) => ({
      id: formatId(move.kind, move.server_id),
      kind: move.kind,
      from: move.from_name,
      to: move.to_name,
      state: describeMove(move),
      attempts: move.attempts,
      last_fault: move.last_fault,
    })),
  };
}

function toHostObject(row: CountedHostRow) {
  return {
    object: 'host' as const,
    id: row.name,
    region: row.region_id,
    /** Null: the machine that the service runs on. */
    backend: row.backend,
    state: hostStateOf(row),
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
    fenced_at: row.fenced_at && formatRfc3339(row.fenced_at),
  };
}

export function hostStateOf(row: SeenHostRow): 'ok' | 'lost' | 'revoked' | 'away' | 'drained' | 'not_seen' {
  if (row.lost_at) return 'lost';
  if (row.revoked) return 'revoked';
  if (row.away_since) return 'away';
  if (row.draining) return 'drained';
  return row.seen_at ? 'ok' : 'not_seen';
}
