/** Incidents and planned maintenance: the operator writes them, and the status page shows them. */
import { fail } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { OperatorError, requireLine, requireText } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Action } from '../../spec/actions.ts';
import { COMPONENTS, type IncidentState, type PublicIncident, regionOf } from '../../spec/public-status.ts';
import {
  findIncident,
  type IncidentRow,
  insertIncident,
  insertIncidentUpdate,
  listIncidentsOpenFirst,
  listIncidentUpdates,
  listOpenIncidents,
  listIncidents as listRows,
  lockIncident,
  saveIncident,
} from '../../store/service/incidents.ts';
import type { Service } from '../context.ts';
import { requireRegion } from '../inventory/names.ts';
import { recordAudit, systemActor } from '../record.ts';

const NOT_FOUND = 'Incident not found.';

type Deps = Pick<Service, 'db' | 'clock'>;

export interface NewIncident {
  readonly title: string;
  readonly text: string;
  /** None: everything. */
  readonly components: readonly string[];
  readonly state: IncidentState;
  /** Planned maintenance, which has no state. Null: an incident that began now. */
  readonly planned: { readonly from: Date; readonly until: Date } | null;
}

/** Returns the public id. */
export async function createIncident(service: Deps, wanted: NewIncident): Promise<string> {
  const title = requireLine('title', wanted.title);
  const text = requireText('text', wanted.text);
  const { planned } = wanted;
  if (planned !== null) requirePeriod(planned.from, planned.until);
  if (planned === null && wanted.state === 'resolved')
    throw new OperatorError('a new incident is not resolved: create it, then resolve it');
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const row: IncidentRow = {
      id: newId(now),
      kind: planned === null ? 'incident' : 'maintenance',
      title,
      state: planned === null ? wanted.state : null,
      components: await requireComponents(tx, wanted.components),
      starts_at: planned?.from ?? now,
      ends_at: planned?.until ?? null,
      resolved_at: null,
      updated_at: now,
    };
    await insertIncident(tx, row);
    await record(tx, row, text, 'incident.create', now);
    return formatId('incident', row.id);
  });
}

export interface IncidentChange {
  readonly text: string;
  readonly state?: IncidentState | undefined;
  readonly components?: readonly string[] | undefined;
  /** The planned end of maintenance. */
  readonly until?: Date | undefined;
}

/** Adds an update. An incident that was resolved is open again, unless the new state is `resolved`. */
export async function updateIncident(
  service: Deps,
  shownId: string,
  change: IncidentChange,
): Promise<PublicIncident['state']> {
  const text = requireText('text', change.text);
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const before = await requireIncident(tx, shownId);
    const planned = before.kind === 'maintenance';
    if (planned && change.state !== undefined)
      throw new OperatorError('the state of maintenance follows from its times: use --until, or resolve it');
    if (!planned && change.until !== undefined)
      throw new OperatorError('only planned maintenance has an end: resolve the incident when it is over');
    if (change.until) requirePeriod(before.starts_at, change.until);
    const state = planned
      ? null
      : (change.state ?? (before.state === 'resolved' ? 'identified' : before.state));
    const row: IncidentRow = {
      ...before,
      state,
      components: change.components ? await requireComponents(tx, change.components) : before.components,
      ends_at: change.until ?? before.ends_at,
      resolved_at: planned ? before.resolved_at : state === 'resolved' ? (before.resolved_at ?? now) : null,
      updated_at: now,
    };
    await saveIncident(tx, row);
    const action = state === 'resolved' ? 'incident.resolve' : 'incident.update';
    await record(tx, row, text, action, now);
    return stateOf(row, now);
  });
}

/** Ends an incident, or maintenance before its planned end. Maintenance that did not begin is canceled. */
export async function resolveIncident(
  service: Deps,
  shownId: string,
  text: string,
): Promise<PublicIncident['state']> {
  const body = requireText('text', text);
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const before = await requireIncident(tx, shownId);
    if (before.resolved_at !== null) throw new OperatorError('it is resolved already: use incidents update');
    const state = before.kind === 'incident' ? 'resolved' : null;
    const row = { ...before, state, resolved_at: now, updated_at: now } as const;
    await saveIncident(tx, row);
    await record(tx, row, body, 'incident.resolve', now);
    return stateOf(row, now);
  });
}

async function record(tx: Sql, row: IncidentRow, body: string, action: Action, now: Date): Promise<void> {
  const { id, state } = row;
  await insertIncidentUpdate(tx, { id: newId(now), incident_id: id, state, body, created_at: now });
  const resource = formatId('incident', id);
  await recordAudit(tx, { actor: systemActor(now), action, resource }, now);
}

async function requireIncident(tx: Sql, shownId: string): Promise<IncidentRow> {
  const id = parseId('incident', shownId);
  const row = id === undefined ? undefined : await lockIncident(tx, id);
  return row ?? fail('not_found', {}, NOT_FOUND);
}

async function requireComponents(tx: Sql, components: readonly string[]): Promise<readonly string[]> {
  for (const component of components) {
    const region = regionOf(component);
    if (region !== null) await requireRegion(tx, region);
    else if (!Object.hasOwn(COMPONENTS, component)) {
      const names = Object.keys(COMPONENTS).join(', ');
      throw new OperatorError(`a component is one of ${names}, or region:<code>, such as region:par`);
    }
  }
  return [...new Set(components)];
}

function requirePeriod(from: Date, until: Date): void {
  if (from >= until) throw new OperatorError('maintenance must end after it begins');
}

/** Returns what is going on or planned, oldest first. */
export async function readOpenIncidents(service: Deps): Promise<PublicIncident[]> {
  const now = service.clock.now();
  return await describe(service, await listOpenIncidents(service.db, now), now);
}

/** Returns a page of incidents and maintenance, newest first. `after` is the last id of the previous page. */
export async function pageIncidents(
  service: Deps,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<{ readonly items: readonly PublicIncident[]; readonly next: string | null }> {
  const id = after === null ? undefined : parseId('incident', after);
  const last = id === undefined ? undefined : await findIncident(service.db, id);
  const before = last ? { at: last.starts_at, id: last.id } : null;
  const rows = await listRows(service.db, { before, limit: limit + 1 });
  const items = await describe(service, rows.slice(0, limit), service.clock.now());
  return { items, next: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
}

/** Returns a page for staff: what is going on or planned first, and then the newest. */
export async function listIncidentsForStaff(
  service: Deps,
  { open, before, limit }: { readonly open?: true; readonly before?: string; readonly limit: number },
): Promise<{ readonly incidents: readonly PublicIncident[]; readonly hasMore: boolean }> {
  const after = before === undefined ? null : parseId('incident', before);
  if (after === undefined) return { incidents: [], hasMore: false };
  const now = service.clock.now();
  const query = { now, onlyOpen: open ?? false, after, limit: limit + 1 };
  const rows = await listIncidentsOpenFirst(service.db, query);
  return { incidents: await describe(service, rows.slice(0, limit), now), hasMore: rows.length > limit };
}

/** Fails with `not_found`. */
export async function readIncident(service: Deps, shownId: string): Promise<PublicIncident> {
  const id = parseId('incident', shownId);
  const row = id === undefined ? undefined : await findIncident(service.db, id);
  const [incident] = row ? await describe(service, [row], service.clock.now()) : [];
  return incident ?? fail('not_found', {}, NOT_FOUND);
}

async function describe({ db }: Deps, rows: readonly IncidentRow[], now: Date): Promise<PublicIncident[]> {
  if (rows.length === 0) return [];
  const updates = await listIncidentUpdates(
    db,
    rows.map(({ id }) => id),
  );
  const byIncident = Map.groupBy(updates, ({ incident_id }) => incident_id);
  return rows.map((row) => ({
    id: formatId('incident', row.id),
    kind: row.kind,
    title: row.title,
    state: stateOf(row, now),
    components: row.components,
    starts_at: formatRfc3339(row.starts_at),
    ends_at: row.ends_at && formatRfc3339(row.ends_at),
    resolved_at: row.resolved_at && formatRfc3339(row.resolved_at),
    updated_at: formatRfc3339(row.updated_at),
    updates: (byIncident.get(row.id) ?? []).map(({ state, body, created_at }) => ({
      state,
      text: body,
      created_at: formatRfc3339(created_at),
    })),
  }));
}

function stateOf(row: IncidentRow, now: Date): PublicIncident['state'] {
  if (row.state !== null) return row.state;
  if (row.resolved_at !== null) return row.resolved_at < row.starts_at ? 'canceled' : 'completed';
  if (now < row.starts_at) return 'scheduled';
  return row.ends_at !== null && row.ends_at <= now ? 'completed' : 'in progress';
}
