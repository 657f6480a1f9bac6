/** Findings: machines whose state differs from what their server's status requires. */
import type { Sql } from '../../kernel/sql.ts';
import type { ServerStatus } from '../../spec/states.ts';

/**
 * `unknown_machine`: a machine without a server. `lost_machine`: a server that has run has no machine.
 * `guest_off`: a running server whose guest has shut down. `should_be_off`, `runs_stopped`: the machine of a
 * suspended or stopped server is on. `failing_machine`: a machine that should be on is off, and a repair
 * failed.
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
  /** The machine's name on its host. For a server's machine, it is the server's id. */
  readonly subject: string;
  readonly host: string | null;
  /** Details from the check that found it. */
  readonly says?: string | null;
}

export interface FindingRow extends Finding {
  readonly looks: number;
  readonly first_seen_at: Date;
}

/**
 * Records the findings of one check of these kinds. Deletes earlier findings that it did not confirm, except
 * for machines that it could not observe. Returns both.
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
  const rows = await tx.rows<FindingRow & { readonly is_current: boolean }>(
    `with seen as (
       select * from unnest($findings.kind::text[], $findings.subject::text[], $findings.host::text[],
                            $findings.says::text[]) as s (kind, subject, host, says)),
     resolved as (
       delete from findings f
        where f.kind = any($kinds::text[]) and f.subject <> all($unobserved::text[])
          and not exists (select from seen s where (s.kind, s.subject) = (f.kind, f.subject))
       returning f.*),
     confirmed as (
       insert into findings as f (kind, subject, host, says, first_seen_at, last_seen_at)
       select kind, subject, host, says, $now, $now from seen
       on conflict (kind, subject) do update
          set looks = f.looks + 1, host = excluded.host, says = excluded.says,
              last_seen_at = excluded.last_seen_at
       returning f.*)
     select kind, subject, host, says, looks, first_seen_at, true as is_current from confirmed
     union all select kind, subject, host, says, looks, first_seen_at, false from resolved`,
    { ...pass, findings: pass.findings.map((finding) => ({ says: null, ...finding })) },
  );
  return {
    current: rows.filter((row) => row.is_current),
    resolved: rows.filter((row) => !row.is_current),
  };
}

/** Lists findings seen in at least `minLooks` checks, oldest first. */
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

/** A server without an operation, so that its machine should match its status. */
export interface IdleServerRow {
  readonly id: string;
  readonly status: Extract<ServerStatus, 'running' | 'stopped' | 'suspended'>;
  /** The disk that it runs on, as recorded here. */
  readonly generation: number;
  readonly host: string | null;
}

/** Lists idle servers by id after `after`; those on dedicated machines only if a driver manages them. */
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

/** Records a newer disk generation of the server. Returns false when the recorded one is as new or newer. */
export async function recordNewerGeneration(tx: Sql, serverId: string, generation: number): Promise<boolean> {
  const changed = await tx.run('update servers set generation = $2 where id = $1 and generation < $2', [
    serverId,
    generation,
  ]);
  return changed > 0;
}

/** Returns which of these ids are servers, in any status. */
export async function findServerIds(tx: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>('select id from servers where id = any($1::uuid[])', [ids]);
  return rows.map(({ id }) => id);
}
