/**
 * Dedicated machines without a driver: the operator does the work by hand and reports it with commands. A
 * machine cycles through free → sold → wiping → tested → free (spec/states.ts). Only free machines are
 * sold.
 */
import { OperatorError, requireLine } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { findTransition, MACHINE_TRANSITIONS, type MachineState } from '../../spec/states.ts';
import {
  deleteMachine,
  listMachines,
  lockMachine,
  type MachineRow,
  setMachineOff,
  setMachineState,
} from '../../store/inventory/machines.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { isSoldByHand } from '../servers/hardware.ts';

/** The reason why a machine is not free, and the step before it can be sold. */
const NOT_FREE_REASONS: Record<Exclude<MachineState, 'free'>, string> = {
  sold: 'is sold',
  wiping: 'must be wiped first: report it with `skerryd dedicated wipe`',
  tested: 'is not back on sale: run `skerryd dedicated wipe --free`',
};

/** The manual step that is due on a machine. */
type ManualAction = 'power it off' | 'power it on' | 'wipe and test it' | 'put it back on sale';

function pendingManualAction(machine: MachineRow): ManualAction | null {
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

/** The result. `changed` is false if it was already recorded. */
interface MachinePowerResult {
  readonly changed: boolean;
  readonly pendingAction: ManualAction | null;
  readonly serverStatus: MachineRow['server_status'];
}

/** Records that a sold machine was powered off or on by hand, so that the remaining work is known. */
export async function recordMachinePower(
  service: Pick<Service, 'db' | 'clock' | 'compute'>,
  name: string,
  power: 'off' | 'on',
): Promise<MachinePowerResult> {
  requireManualMachines(service);
  return await service.db.transaction(async (tx) => {
    const machine = await requireMachine(tx, name);
    if (machine.state !== 'sold')
      throw new OperatorError(`${name} is not sold: its power state is not tracked`);
    const changed = (machine.off_since === null) === (power === 'off');
    const now = service.clock.now();
    const offSince = power === 'off' ? (machine.off_since ?? now) : null;
    if (changed) {
      await setMachineOff(tx, machine.id, offSince);
      const action = power === 'off' ? 'machine.off' : 'machine.on';
      await recordAudit(tx, { actor: systemActor(now), action, resource: name }, now);
    }
    const pendingAction = pendingManualAction({ ...machine, off_since: offSince });
    return { changed, pendingAction, serverStatus: machine.server_status };
  });
}

type Deps = Pick<Service, 'db' | 'clock' | 'compute'>;

/** Records that the disks were wiped by a method and the machine was tested. Fails unless it is `wiping`. */
export async function recordWipe(service: Deps, name: string, method: string): Promise<void> {
  const note = requireLine('method', method);
  await advanceMachine(service, name, 'wipe', { note });
}

/** Puts the machine back on sale. Fails unless it is `tested`. */
export async function putBackOnSale(service: Deps, name: string): Promise<void> {
  await advanceMachine(service, name, 'free');
}

/** Takes a machine out of the stock. Fails while it is sold, or has data of a customer. */
export async function removeMachine(
  { db, clock }: Pick<Service, 'db' | 'clock'>,
  name: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const machine = await requireMachine(tx, name);
    if (machine.state === 'sold') throw new OperatorError(`${name} is sold`);
    if (machine.state === 'wiping') throw new OperatorError(`${name} ${NOT_FREE_REASONS.wiping}`);
    await deleteMachine(tx, machine.id);
    const now = clock.now();
    await recordAudit(tx, { actor: systemActor(now), action: 'machine.remove', resource: name }, now);
  });
}

const STEPS = {
  wipe: { from: 'wiping', action: 'machine.wipe' },
  free: { from: 'tested', action: 'machine.free' },
} as const;

async function advanceMachine(
  service: Deps,
  name: string,
  trigger: keyof typeof STEPS,
  audit: { readonly note?: string } = {},
): Promise<void> {
  requireManualMachines(service);
  const { from, action } = STEPS[trigger];
  await service.db.transaction(async (tx) => {
    const machine = await requireMachine(tx, name);
    if (machine.state !== from) throw new OperatorError(`${name} ${WRONG_STATE[machine.state]}`);
    const { to } = findTransition(MACHINE_TRANSITIONS, from, trigger);
    const now = service.clock.now();
    await setMachineState(tx, { id: machine.id, state: to, now });
    await recordAudit(tx, { actor: systemActor(now), action, resource: name, ...audit }, now);
  });
}

/** The reason why this step is not possible now. */
const WRONG_STATE: Record<MachineState, string> = {
  free: 'is free: no wipe is due',
  sold: 'is sold: wipe it after its server is deleted',
  wiping: 'is not wiped yet: report the wipe with --method first',
  tested: 'is already wiped and tested: put it back on sale with --free',
};
