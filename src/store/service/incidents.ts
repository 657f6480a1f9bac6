/** Incidents and planned maintenance of the public status page, with the updates of each. */
import type { Sql } from '../../kernel/sql.ts';
import type { IncidentState, PublicIncident } from '../../spec/public-status.ts';
import { assignmentsFor, parametersFor } from '../parameters.ts';

export interface IncidentRow {
  readonly id: string;
  readonly kind: PublicIncident['kind'];
  readonly title: string;
  readonly state: IncidentState | null;
  readonly components: readonly string[];
  readonly starts_at: Date;
  readonly ends_at: Date | null;
  readonly resolved_at: Date | null;
  readonly updated_at: Date;
}

export interface IncidentUpdateRow {
  readonly id: string;
  readonly incident_id: string;
  readonly state: IncidentState | null;
  readonly body: string;
  readonly created_at: Date;
}

const VALUES = 'title, state, components, starts_at, ends_at, resolved_at, updated_at';
const INCIDENT = `id, kind, ${VALUES}`;
const UPDATE = 'id, incident_id, state, body, created_at';

export async function insertIncident(tx: Sql, row: IncidentRow): Promise<void> {
  await tx.run(`insert into incidents (${INCIDENT}) values (${parametersFor(INCIDENT)})`, row);
}

export async function saveIncident(tx: Sql, { kind: _kind, ...row }: IncidentRow): Promise<void> {
  await tx.run(`update incidents set ${assignmentsFor(VALUES)} where id = $id`, row);
}

export async function insertIncidentUpdate(tx: Sql, row: IncidentUpdateRow): Promise<void> {
  await tx.run(`insert into incident_updates (${UPDATE}) values (${parametersFor(UPDATE)})`, row);
}

/** Locks the incident until the transaction ends. */
export async function lockIncident(tx: Sql, id: string): Promise<IncidentRow | undefined> {
  return await tx.row<IncidentRow>(`select ${INCIDENT} from incidents where id = $1 for update`, [id]);
}

export async function findIncident(tx: Sql, id: string): Promise<IncidentRow | undefined> {
  return await tx.row<IncidentRow>(`select ${INCIDENT} from incidents where id = $1`, [id]);
}

/** Lists what is not resolved, and maintenance whose planned end is not reached, oldest first. */
export async function listOpenIncidents(tx: Sql, now: Date): Promise<IncidentRow[]> {
  return await tx.rows<IncidentRow>(
    `select ${INCIDENT} from incidents
      where resolved_at is null and (ends_at is null or ends_at > $1) order by starts_at, id`,
    [now],
  );
}

/** Lists incidents and maintenance that began before the time, newest first. */
export async function listIncidents(
  tx: Sql,
  { before, limit }: { readonly before: { readonly at: Date; readonly id: string } | null; limit: number },
): Promise<IncidentRow[]> {
  return await tx.rows<IncidentRow>(
    `select ${INCIDENT} from incidents
      where $1::timestamptz is null or (starts_at, id) < ($1, $2::uuid)
      order by starts_at desc, id desc limit $3`,
    [before?.at ?? null, before?.id ?? null, limit],
  );
}

/** Lists those that are not over first, and then by start, newest first. `after` is the last one listed. */
export async function listIncidentsOpenFirst(
  tx: Sql,
  query: { readonly now: Date; readonly onlyOpen: boolean; readonly after: string | null; limit: number },
): Promise<IncidentRow[]> {
  return await tx.rows<IncidentRow>(
    `with known as (
       select ${INCIDENT}, resolved_at is null and (ends_at is null or ends_at > $1) as open from incidents
     )
     select ${INCIDENT} from known
      where (open or not $2)
        and ($3::uuid is null
          or (open, starts_at, id) < (select open, starts_at, id from known where id = $3))
      order by open desc, starts_at desc, id desc limit $4`,
    [query.now, query.onlyOpen, query.after, query.limit],
  );
}

/** Lists the updates of these incidents, newest first. */
export async function listIncidentUpdates(tx: Sql, ids: readonly string[]): Promise<IncidentUpdateRow[]> {
  return await tx.rows<IncidentUpdateRow>(
    `select ${UPDATE} from incident_updates where incident_id = any ($1::uuid[]) order by id desc`,
    [ids],
  );
}
