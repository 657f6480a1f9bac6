/** What was found of machines that is not as the service wants it. */
import type { Sql } from '../kernel/sql.ts';
import type { ServerStatus } from '../spec/states.ts';

/**
 * `unknown_machine`: of no server. `lost_machine`: a server has run, and has none. `guest_off`: a server runs, and its guest
 * has shut down. `should_be_off`, `runs_stopped`: a suspended, a stopped server's machine runs. `failing_machine`: what
 * should be on is not, and could not be put right.
 */
export type FindingKind =
  | 'unknown_machine'
  | 'lost_machine'
  | 'guest_off'
  | 'should_be_off'
  | 'runs_stopped'
  | 'failing_machine';

export interface Finding {
  readonly kind: FindingKind;
  /** The machine's name on its host: a server's id, where it is one. */
  readonly subject: string;
  readonly host: string | null;
  /** What whoever looked said of it. */
  readonly says?: string | null;
}

export interface FindingRow extends Finding {
  readonly looks: number;
  readonly first_seen_at: Date;
}

/**
 * Writes what one look found of these kinds; what it did not find again is removed, but for machines of which it could not
 * see anything. Returns both.
 */
export async function recordFindings(
  tx: Sql,
  pass: {
    readonly kinds: readonly FindingKind[];
    readonly findings: readonly Finding[];
    readonly unobserved: readonly string[];
    readonly now: Date;
  },
): Promise<{ readonly current: FindingRow[]; readonly resolved: FindingRow[] }> {
  const rows = await tx.rows<FindingRow & { readonly there: boolean }>(
    `with seen as (
       select * from unnest($1::text[], $2::text[], $3::text[], $7::text[]) as s (kind, subject, host, says)),
     gone as (
       delete from findings f
        where f.kind = any($4::text[]) and f.subject <> all($5::text[])
          and not exists (select from seen s where (s.kind, s.subject) = (f.kind, f.subject))
       returning f.*),
     there as (
       insert into findings as f (kind, subject, host, says, first_seen_at, last_seen_at)
       select kind, subject, host, says, $6, $6 from seen
       on conflict (kind, subject) do update
          set looks = f.looks + 1, host = excluded.host, says = excluded.says, last_seen_at = excluded.last_seen_at
       returning f.*)
     select kind, subject, host, says, looks, first_seen_at, true as there from there
     union all select kind, subject, host, says, looks, first_seen_at, false from gone`,
    [
      pass.findings.map(({ kind }) => kind),
      pass.findings.map(({ subject }) => subject),
      pass.findings.map(({ host }) => host),
      pass.kinds,
      pass.unobserved,
      pass.now,
      pass.findings.map(({ says = null }) => says),
    ],
  );
  return { current: rows.filter(({ there }) => there), resolved: rows.filter(({ there }) => !there) };
}

/** Oldest first: those that were so in `looks` looks at least. */
export async function listFindings(
  tx: Sql,
  filter: { readonly kinds: readonly FindingKind[]; readonly minLooks: number; readonly limit: number },
): Promise<FindingRow[]> {
  return await tx.rows<FindingRow>(
    `select kind, subject, host, says, looks, first_seen_at from findings
      where kind = any($1::text[]) and looks >= $2 order by first_seen_at, kind, subject limit $3`,
    [filter.kinds, filter.minLooks, filter.limit],
  );
}

/** A server whose machine should be as its status says, for nothing is being done to it. */
export interface IdleServerRow {
  readonly id: string;
  readonly status: Extract<ServerStatus, 'running' | 'stopped' | 'suspended'>;
  /** The disk that it runs on, as far as is known here. */
  readonly generation: number;
  readonly host: string | null;
}

/** By id, from after `after` on; those on dedicated machines only where a driver reaches them. */
export async function listIdleServers(
  tx: Sql,
  page: { readonly after: string | null; readonly includeDedicated: boolean; readonly limit: number },
): Promise<IdleServerRow[]> {
  return await tx.rows<IdleServerRow>(
    `select s.id, s.status, s.generation, coalesce(h.name, m.name) as host
       from servers s left join hosts h on h.id = s.host_id left join machines m on m.id = s.machine_id
      where ($1::uuid is null or s.id > $1) and s.status in ('running', 'stopped', 'suspended')
        and s.first_run_at is not null and ($2 or s.machine_id is null)
        and not exists (select from operations o where o.server_id = s.id)
      order by s.id limit $3`,
    [page.after, page.includeDedicated, page.limit],
  );
}

/** Notes the disk that the server's machine is on; false when it is known to be on that one, or a later one. */
export async function recordNewerGeneration(tx: Sql, serverId: string, generation: number): Promise<boolean> {
  const changed = await tx.run('update servers set generation = $2 where id = $1 and generation < $2', [
    serverId,
    generation,
  ]);
  return changed > 0;
}

/** Which of these are ids of servers, in whatever status. */
export async function findServerIds(tx: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('select id from servers where id = any($1::uuid[])', [ids]);
  return rows.map(({ id }) => id);
}
