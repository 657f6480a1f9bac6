/** The latest facts about each host, and what else the inventory knows of it. */
import type { Sql } from '../../kernel/sql.ts';
import { LOCAL_BACKEND } from '../../ports/backends.ts';
import { assignmentsFor } from '../parameters.ts';
import { HOST_CONTENTS, type HostContents } from './placement.ts';

/** Null, all but the first two: the host's version does not report it. */
export interface FactsRow {
  /** Null on the machine of the service. */
  readonly protocol: number | null;
  readonly latency_ms: number;
  readonly version: string | null;
  readonly skew_ms: number | null;
  readonly uptime_s: number | null;
  readonly cores: number | null;
  readonly load: number | null;
  readonly ram_mb: number | null;
  readonly ram_available_mb: number | null;
  readonly disk_gb: number | null;
  readonly disk_free_gb: number | null;
}

export interface SeenRow extends FactsRow {
  readonly backend: string;
  /** Null: all hosts of the backend. */
  readonly host: string | null;
}

const FACTS = `protocol, latency_ms, version, skew_ms, uptime_s, cores, load, ram_mb, ram_available_mb,
  disk_gb, disk_free_gb`;
const BACKEND_OF = `coalesce(h.backend, '${LOCAL_BACKEND}')`;
/**
 * Records the answers of the backends that were asked. A backend speaks for its own hosts only: others that
 * it names are left out. Those of its hosts that it does not name are away.
 */
export async function recordHostFacts(
  tx: Sql,
  { asked, seen }: { readonly asked: readonly string[]; readonly seen: readonly SeenRow[] },
): Promise<void> {
  await tx.run(
    `with reading as (
       select * from unnest(
         $seen.backend::text[], $seen.host::text[], $seen.protocol::int[], $seen.latency_ms::float8[],
         $seen.version::text[], $seen.skew_ms::float8[], $seen.uptime_s::int[], $seen.cores::int[],
         $seen.load::float8[], $seen.ram_mb::int[], $seen.ram_available_mb::int[],
         $seen.disk_gb::float8[], $seen.disk_free_gb::float8[]) as r (backend, host, ${FACTS})),
     latest as (
       select distinct on (h.id) h.id, r.*
         from hosts h join reading r on r.backend = ${BACKEND_OF} and coalesce(r.host, h.name) = h.name
        where r.backend = any ($asked::text[])),
     seen as (
       insert into host_facts (host_id, seen_at, ${FACTS})
       select id, clock_timestamp(), ${FACTS} from latest order by id
       on conflict (host_id) do update
          set seen_at = excluded.seen_at, away_since = null, ${assignmentsFor(FACTS, 'excluded.')})
     insert into host_facts as f (host_id, away_since)
     select h.id, clock_timestamp() from hosts h
      where ${BACKEND_OF} = any ($asked::text[]) and h.id not in (select id from latest)
      order by h.id
     on conflict (host_id) do update set away_since = coalesce(f.away_since, excluded.away_since)`,
    { asked, seen },
  );
}

/** A host as operators see it. */
export interface SeenHostRow extends FactsRowOrNone {
  readonly name: string;
  readonly region_id: string;
  /** Null: the machine that the service runs on. */
  readonly backend: string | null;
  readonly address: string | null;
  readonly revoked: boolean;
  readonly draining: boolean;
  /** Since when it is given up, and fenced. */
  readonly lost_at: Date | null;
  readonly fenced_at: Date | null;
  readonly cpu: number;
  readonly promised_ram_mb: number;
  readonly promised_disk_gb: number;
  readonly used_ram_mb: number;
  readonly used_disk_gb: number;
  readonly tags: readonly string[];
  readonly reserve_ram_mb: number;
  readonly reserve_disk_gb: number;
  readonly moves: bigint;
  /** Files of images that it has, and that it should have; zero for the machine of the service. */
  readonly images: bigint;
  readonly images_wanted: bigint;
  /** Null: it is self-signed, or has none. */
  readonly certificate_until: Date | null;
  readonly renewal_failures: number;
  /** Null: it was never seen, or is not away. */
  readonly seen_at: Date | null;
  readonly away_since: Date | null;
  /** For how many seconds it has been away. */
  readonly away_s: number | null;
}

type FactsRowOrNone = { readonly [Name in keyof FactsRow]: FactsRow[Name] | null };

export type CountedHostRow = SeenHostRow & HostContents;

/** Lists hosts by region and name. */
export async function listSeenHosts(tx: Sql, name: string | null = null): Promise<SeenHostRow[]> {
  return await tx.rows<SeenHostRow>(seenHosts(''), [name]);
}

/** The same, with what is on them. Each server is counted. */
export async function listCountedHosts(tx: Sql, name: string | null = null): Promise<CountedHostRow[]> {
  return await tx.rows<CountedHostRow>(seenHosts(`${HOST_CONTENTS},`), [name]);
}

function seenHosts(counts: string): string {
  return `select h.name, h.region_id, h.backend, b.address, coalesce(b.state = 'revoked', false) as revoked,
                 h.draining, h.lost_at, h.fenced_at, h.cpu, h.ram_mb as promised_ram_mb,
                 h.disk_gb as promised_disk_gb, h.used_ram_mb,
                 h.used_disk_gb, h.tags, h.reserve_ram_mb, h.reserve_disk_gb, ${counts}
                 (select count(*) from moves m where h.id in (m.from_host, m.to_host)) as moves,
                 (select count(*) from backend_files i
                   where i.backend = h.backend and i.kind <> 'iso' and i.ready_at is not null) as images,
                 (select count(*) from backend_files i
                   where i.backend = h.backend and i.kind <> 'iso') as images_wanted,
                 b.certificate_until, coalesce(b.renewal_failures, 0) as renewal_failures,
                 f.seen_at, f.away_since,
                 extract(epoch from clock_timestamp() - f.away_since)::float8 as away_s,
                 ${FACTS.replace(/\w+/g, 'f.$&')}
            from hosts h
            left join backends b on b.name = h.backend
            left join host_facts f on f.host_id = h.id
           where $1::text is null or h.name = $1
           order by h.region_id, h.name`;
}
