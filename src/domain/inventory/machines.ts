/** Dedicated machines: a finite stock, one server per machine. */
import { newId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findPlan, type PlanRow } from '../../store/catalogue/catalogue.ts';
import { insertMachines } from '../../store/inventory/hosts.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import type { HostShape, RegisterHosts } from './hosts.ts';
import { requireRegion, requireUnusedNames } from './names.ts';

export interface NewMachines {
  readonly regionId: string;
  /** The plan of category `dedicated` that these machines are sold as. */
  readonly planId: string;
  readonly names: readonly string[];
}

/** Adds machines to the stock of a plan in a region. */
export async function addMachines(
  service: Pick<Service, 'db' | 'clock'>,
  machines: NewMachines,
  register: RegisterHosts,
): Promise<void> {
  const plan = await requireDedicatedPlan(service.db, machines);
  await requireUnusedNames(service.db, machines.names);
  await register(machineShapes(plan, machines.names), 'dedicated');
  await service.db.transaction((tx) => createMachines(tx, machines, service.clock.now()));
}

/** Creates registered machines in the caller's transaction. */
export async function createMachines(tx: Sql, machines: NewMachines, now: Date): Promise<void> {
  await requireDedicatedPlan(tx, machines);
  await requireUnusedNames(tx, machines.names);
  await insertMachines(tx, {
    ids: machines.names.map(() => newId(now)),
    names: machines.names,
    plan_id: machines.planId,
    region_id: machines.regionId,
    created_at: now,
  });
  const resource = machines.names.join(' ');
  await recordAudit(tx, { actor: systemActor(now), action: 'machine.add', resource }, now);
}

/** Returns machines as hosts of the size that their plan promises. */
export function machineShapes(
  plan: Pick<PlanRow, 'cpu' | 'ram_mb' | 'disk_gb'>,
  names: readonly string[],
): HostShape[] {
  return names.map((name) => ({ name, cpu: plan.cpu, ramMb: plan.ram_mb, diskGb: plan.disk_gb }));
}

async function requireDedicatedPlan(tx: Sql, machines: NewMachines): Promise<PlanRow> {
  await requireRegion(tx, machines.regionId);
  const plan = await findPlan(tx, machines.planId);
  if (!plan) throw new OperatorError(`plan ${machines.planId} not found: see \`skerryd catalogue show\``);
  if (plan.category !== 'dedicated') {
    throw new OperatorError(`plan ${plan.id} is not dedicated: its servers are placed on hosts`);
  }
  return plan;
}
