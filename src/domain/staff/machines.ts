/** Dedicated machines as staff read them. */
import { fail } from '../../kernel/fail.ts';
import { formatId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { MachineState } from '../../spec/states.ts';
import type { Service } from '../context.ts';
import { listDedicated, type MachineWithAction } from '../inventory/manual-machines.ts';

type Deps = Pick<Service, 'db' | 'compute'>;

export type MachineObject = ReturnType<typeof toMachineObject>;

export interface MachineQuery {
  readonly state?: MachineState;
  readonly region?: string;
  readonly plan?: string;
  /** Only those on which work is due. */
  readonly due?: true;
}

export async function listMachineObjects(
  service: Deps,
  { state, region, plan, due }: MachineQuery,
): Promise<MachineObject[]> {
  const machines = (await listDedicated(service)).map(toMachineObject);
  return machines.filter(
    (row) =>
      (state === undefined || row.state === state) &&
      (region === undefined || row.region === region) &&
      (plan === undefined || row.plan === plan) &&
      (due === undefined || row.due !== null),
  );
}

/** Fails with `not_found`. */
export async function readMachineObject(service: Deps, name: string): Promise<MachineObject> {
  const row = (await listDedicated(service)).find((each) => each.name === name);
  return toMachineObject(row ?? fail('not_found', {}, 'No machine has this name.'));
}

function toMachineObject(row: MachineWithAction) {
  return {
    object: 'machine' as const,
    id: row.name,
    region: row.region_id,
    plan: row.plan_id,
    state: row.state,
    state_since: formatRfc3339(row.state_since),
    /** As recorded by hand. */
    off_since: row.off_since && formatRfc3339(row.off_since),
    server: row.server_id && formatId('server', row.server_id),
    server_status: row.server_status,
    customer: row.email,
    /** The work that is due by hand. */
    due: row.pendingAction,
  };
}
