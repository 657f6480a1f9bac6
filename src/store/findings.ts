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

export interface Found {
  readonly kind: FindingKind;
  /** The machine's name on its host: a server's id, where it is one. */
  readonly subject: string;
  readonly host: string | null;
  /** What whoever looked said of it. */
  readonly says?: string | null;
}

export interface FindingRow extends Found {
  readonly looks: number;
  readonly first_seen_at: Date;
}

/**
 * Writes what one look found of these kinds; what it did not find again is removed, but for machines of which it could not
 * see anything. Returns both.
 */
export async function noteFindings(
  tx: Sql,
  look: {
    readonly kinds: readonly FindingKind[];
    readonly found: readonly Found[];
    readonly unseen: readonly string[];
    readonly now: Date;
  },
): Promise<{ readonly there: FindingRow[]; readonly gone: FindingRow[] }> {
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
      look.found.map(({ kind }) => kind),
      look.found.map(({ subject }) => subject),
      look.found.map(({ host }) => host),
      look.kinds,
      look.unseen,
      look.now,
      look.found.map(({ says = null }) => says),
    ],
  );
  return { there: rows.filter(({ there }) => there), gone: rows.filter(({ there }) => !there) };
}

/** Oldest first: those that were so in `looks` looks at least. */
export async function listFindings(
  tx: Sql,
  asked: { readonly kinds: readonly FindingKind[]; readonly looks: number; readonly limit: number },
): Promise<FindingRow[]> {
  return await tx.rows<FindingRow>(
    `select kind, subject, host, says, looks, first_seen_at from findings
      where kind = any($1::text[]) and looks >= $2 order by first_seen_at, kind, subject limit $3`,
    [asked.kinds, asked.looks, asked.limit],
  );
}

/** A server whose machine should be as its status says, for nothing is being done to it. */
export interface SettledServerRow {
  readonly id: string;
  readonly status: Extract<ServerStatus, 'running' | 'stopped' | 'suspended'>;
  /** The disk that it runs on, as far as is known here. */
  readonly generation: number;
  readonly host: string | null;
}

/** By id, from after `after` on; those on dedicated machines only where a driver reaches them. */
export async function listSettledServers(
  tx: Sql,
  page: { readonly after: string | null; readonly machines: boolean; readonly limit: number },
): Promise<SettledServerRow[]> {
  return await tx.rows<SettledServerRow>(
    `select s.id, s.status, s.generation, coalesce(h.name, m.name) as host
       from servers s left join hosts h on h.id = s.host_id left join machines m on m.id = s.machine_id
      where ($1::uuid is null or s.id > $1) and s.status in ('running', 'stopped', 'suspended')
        and s.first_run_at is not null and ($2 or s.machine_id is null)
        and not exists (select from operations o where o.server_id = s.id)
      order by s.id limit $3`,
    [page.after, page.machines, page.limit],
  );
}

/** Notes the disk that the server's machine is on; false when it is known to be on that one, or a later one. */
export async function noteLaterDisk(tx: Sql, serverId: string, generation: number): Promise<boolean> {
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
