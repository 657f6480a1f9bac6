/**
 * Dedicated machines that no driver reaches: the operator's hands carry out what a driver would, and say so by commands.
 * A machine goes round: free → sold → wiping → tested → free (spec/states.ts), and only a free one is ever sold.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MachineState } from '../../spec/states.ts';
import { listMachines, lockMachine, type MachineRow } from '../../store/machines.ts';
import type { Service } from '../context.ts';
import { isSoldByHand } from '../servers/hardware.ts';

/** What a machine that is not free is, and what comes before it can be sold. */
const NOT_FREE_REASONS: Record<Exclude<MachineState, 'free'>, string> = {
  sold: 'is sold',
  wiping: 'is to be wiped first: skerryd dedicated wipe says that it was',
  tested: 'is not back on sale yet: skerryd dedicated wipe --free puts it there',
};

/** What is to be done to a machine by hand now; null: nothing. */
export type ManualAction = 'switch it off' | 'switch it on' | 'wipe and test it' | 'put it back on sale';

export function pendingManualAction(machine: MachineRow): ManualAction | null {
  if (machine.state === 'wiping') return 'wipe and test it';
  if (machine.state === 'tested') return 'put it back on sale';
  // What is being destroyed is wiped next, on or off.
  if (machine.server_status === null || machine.server_status === 'destroying') return null;
  const [shouldRun, isRunning] = [machine.server_status !== 'suspended', machine.off_since === null];
  if (shouldRun === isRunning) return null;
  return isRunning ? 'switch it off' : 'switch it on';
}

export interface MachineWithAction extends MachineRow {
  readonly pendingAction: ManualAction | null;
}

/** All machines; what is to be done is null throughout where a driver does it. */
export async function listDedicated(service: Pick<Service, 'db' | 'compute'>): Promise<MachineWithAction[]> {
  const byHand = isSoldByHand(service, 'dedicated');
  const machines = await listMachines(service.db);
  return machines.map((machine) => ({
    ...machine,
    pendingAction: byHand ? pendingManualAction(machine) : null,
  }));
}

/** Refuses where a driver reaches the machines: it does by itself what the command would only say. */
export function requireManualMachines(service: Pick<Service, 'compute'>): void {
  if (isSoldByHand(service, 'dedicated')) return;
  throw new OperatorError(
    `the compute driver (${service.compute.name}) looks after dedicated machines here: customers order them, and it wipes them`,
  );
}

export async function requireMachine(tx: Sql, name: string): Promise<MachineRow> {
  return (await lockMachine(tx, name)) ?? throwMachineNotFound(name);
}

export function throwMachineNotFound(name: string): never {
  throw new OperatorError(`there is no machine ${name}: skerryd dedicated list shows them`);
}

export function requireFreeMachine({ name, state }: Pick<MachineRow, 'name' | 'state'>): void {
  if (state !== 'free') throw new OperatorError(`${name} ${NOT_FREE_REASONS[state]}`);
}
