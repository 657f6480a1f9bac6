/** Incidents and planned maintenance as staff read them: as customers do. */
import type { PublicIncident } from '../../spec/public-status.ts';
import type { Service } from '../context.ts';
import { listIncidentsForStaff, readIncident } from '../health/incidents.ts';

type Deps = Pick<Service, 'db' | 'clock'>;

export type IncidentObject = ReturnType<typeof toIncidentObject>;

export async function listIncidentObjects(
  service: Deps,
  query: Parameters<typeof listIncidentsForStaff>[1],
): Promise<{ readonly incidents: readonly IncidentObject[]; readonly hasMore: boolean }> {
  const { incidents, hasMore } = await listIncidentsForStaff(service, query);
  return { incidents: incidents.map(toIncidentObject), hasMore };
}

/** Fails with `not_found`. */
export async function readIncidentObject(service: Deps, shownId: string): Promise<IncidentObject> {
  return toIncidentObject(await readIncident(service, shownId));
}

function toIncidentObject(incident: PublicIncident) {
  return { object: 'incident' as const, ...incident };
}
