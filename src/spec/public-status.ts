/** The public status page: its components, and the operator's texts about incidents and maintenance. */

/** Parts of the service. Each region is a component, too: `region:par`. */
export const COMPONENTS = {
  panel: 'Panel and API',
  deploys: 'New servers',
  payments: 'Payments',
  webhooks: 'Webhooks',
} as const;
export type ServiceComponent = keyof typeof COMPONENTS;

const REGION_PREFIX = 'region:';

export function regionComponent(regionId: string): string {
  return `${REGION_PREFIX}${regionId}`;
}

/** Returns the region of a component, or null. */
export function regionOf(component: string): string | null {
  return component.startsWith(REGION_PREFIX) ? component.slice(REGION_PREFIX.length) : null;
}

/** Returns the name of a component. A region that is no longer in the catalog has its code. */
export function componentName(component: string, regions: ReadonlyMap<string, string>): string {
  const region = regionOf(component);
  if (region !== null) return regions.get(region) ?? region;
  return Object.hasOwn(COMPONENTS, component) ? COMPONENTS[component as ServiceComponent] : component;
}

export const INCIDENT_STATES = ['investigating', 'identified', 'monitoring', 'resolved'] as const;
export type IncidentState = (typeof INCIDENT_STATES)[number];

/** The states of planned maintenance follow from its times. */
export type MaintenanceState = 'scheduled' | 'in progress' | 'completed' | 'canceled';

export const INCIDENT_KINDS = ['incident', 'maintenance'] as const;

export interface PublicIncident {
  /** `inc_…` */
  readonly id: string;
  readonly kind: (typeof INCIDENT_KINDS)[number];
  readonly title: string;
  readonly state: IncidentState | MaintenanceState;
  /** None: everything. */
  readonly components: readonly string[];
  /** RFC 3339, like all times. */
  readonly starts_at: string;
  /** The planned end of maintenance. */
  readonly ends_at: string | null;
  readonly resolved_at: string | null;
  readonly updated_at: string;
  /** Newest first. */
  readonly updates: readonly {
    /** Null: of maintenance. */
    readonly state: IncidentState | null;
    readonly text: string;
    readonly created_at: string;
  }[];
}

/** Whether it is over, or was canceled. */
export function isOver({ state }: Pick<PublicIncident, 'state'>): boolean {
  return state === 'resolved' || state === 'completed' || state === 'canceled';
}
