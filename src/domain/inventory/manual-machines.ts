/**
 * Dedicated machines without a driver: the operator does the work by hand and reports it with commands. A
 * machine cycles through free → sold → wiping → tested → free (spec/states.ts). Only free machines are
 * sold.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MachineState } from '../../spec/states.ts';
import { listMachines, lockMachine, type MachineRow } from '../../store/inventory/machines.ts';
import type { Service } from '../context.ts';
import { isSoldByHand } from '../servers/hardware.ts';

/** The reason why a machine is not free, and the step before it can be sold. */
const NOT_FREE_REASONS: Record<Exclude<MachineState, 'free'>, string> = {
  sold: 'is sold',
  wiping: 'must be wiped first: report it with `skerryd dedicated wipe`',
  tested: 'is not back on sale: run `skerryd dedicated wipe --free`',
};

/** The manual step that is due on a machine. */
export type ManualAction = 'power it off' | 'power it on' | 'wipe and test it' | 'put it back on sale';

export function pendingManualAction(machine: MachineRow): ManualAction | null {
  if (machine.state === 'wiping') return 'wipe and test it';
  if (machine.state === 'tested') return 'put it back on sale';
  // A machine of a server being destroyed is wiped next, so its power does not matter.
  if (machine.server_status === null || machine.server_status === 'destroying') return null;
  const [shouldRun, isRunning] = [machine.server_status !== 'suspended', machine.off_since === null];
  if (shouldRun === isRunning) return null;
  return isRunning ? 'power it off' : 'power it on';
}

export interface MachineWithAction extends MachineRow {
  readonly pendingAction: ManualAction | null;
}

/** Returns all machines. With a driver, `pendingAction` is always null. */
export async function listDedicated(service: Pick<Service, 'db' | 'compute'>): Promise<MachineWithAction[]> {
  const byHand = isSoldByHand(service, 'dedicated');
  const machines = await listMachines(service.db);
  return machines.map((machine) => ({
    ...machine,
    pendingAction: byHand ? pendingManualAction(machine) : null,
  }));
}

/** Fails if a driver manages the machines: it does the work that the command would only report. */
export function requireManualMachines(service: Pick<Service, 'compute'>): void {
  if (isSoldByHand(service, 'dedicated')) return;
  throw new OperatorError(
    `the compute driver (${service.compute.name}) manages dedicated machines: customers order them, and ` +
      'it wipes them',
  );
}

export async function requireMachine(tx: Sql, name: string): Promise<MachineRow> {
  return (await lockMachine(tx, name)) ?? throwMachineNotFound(name);
}

export function throwMachineNotFound(name: string): never {
  throw new OperatorError(`machine ${name} not found: see \`skerryd dedicated list\``);
}

export function requireFreeMachine({ name, state }: Pick<MachineRow, 'name' | 'state'>): void {
  if (state !== 'free') throw new OperatorError(`${name} ${NOT_FREE_REASONS[state]}`);
}
