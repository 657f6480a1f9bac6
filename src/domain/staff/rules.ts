/** Maintenance windows, policies, and switches as staff read them. */
import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import { SWITCHES } from '../../spec/switches.ts';
import type { PolicyRow, WindowRow } from '../../store/service/rules.ts';
import type { Service } from '../context.ts';
import { listMaintenance } from '../rules/maintenance.ts';
import { listPolicies } from '../rules/policies.ts';
import { readSwitches, type SwitchState } from '../rules/switches.ts';

export type WindowObject = ReturnType<typeof toWindowObject>;
export type PolicyObject = ReturnType<typeof toPolicyObject>;
export type SwitchObject = ReturnType<typeof toSwitchObject>;

/** The open windows. */
export async function listWindowObjects(service: Pick<Service, 'db' | 'clock'>): Promise<WindowObject[]> {
  return (await listMaintenance(service)).map(toWindowObject);
}

/** Fails with `not_found`. */
export async function readWindowObject(
  service: Pick<Service, 'db' | 'clock'>,
  shownId: string,
): Promise<WindowObject> {
  const window = (await listWindowObjects(service)).find(({ id }) => id === shownId);
  return window ?? fail('not_found', {}, 'No open maintenance window has this id.');
}

export function toWindowObject(row: WindowRow) {
  return {
    object: 'maintenance_window' as const,
    id: formatId('maintenanceWindow', row.id),
    /** Null: every operation. */
    operation: row.operation,
    message: row.reason,
    starts_at: formatRfc3339(row.starts_at),
    ends_at: formatRfc3339(row.ends_at),
  };
}

/** Oldest first. */
export async function listPolicyObjects(service: Pick<Service, 'db' | 'clock'>): Promise<PolicyObject[]> {
  return (await listPolicies(service)).map(toPolicyObject);
}

/** Fails with `not_found`. */
export async function readPolicyObject(
  service: Pick<Service, 'db' | 'clock'>,
  shownId: string,
): Promise<PolicyObject> {
  const policy = (await listPolicyObjects(service)).find(({ id }) => id === shownId);
  return policy ?? fail('not_found', {}, 'Policy not found.');
}

function toPolicyObject(row: PolicyRow) {
  return {
    object: 'policy' as const,
    id: formatId('policy', row.id),
    operation: row.operation,
    /** Null: any. */
    country: row.country,
    region: row.region_id,
    order: row.order_text,
    created_at: formatRfc3339(row.created_at),
  };
}

export async function listSwitchObjects(service: Pick<Service, 'db'>): Promise<SwitchObject[]> {
  return (await readSwitches(service)).map(toSwitchObject);
}

/** Fails with `not_found`. */
export async function readSwitchObject(service: Pick<Service, 'db'>, name: string): Promise<SwitchObject> {
  const found = (await listSwitchObjects(service)).find(({ id }) => id === name);
  return found ?? fail('not_found', {}, 'No switch has this name.');
}

function toSwitchObject({ name, on, since, reason }: SwitchState) {
  return {
    object: 'switch' as const,
    id: name,
    state: on ? ('on' as const) : ('off' as const),
    about: SWITCHES[name].about,
    message: reason,
    /** Null: it was never set. */
    changed_at: since && formatRfc3339(since),
  };
}
