/**
 * Returns a machine to the stock after its server ended: its disks are wiped, it is tested, and it is sold
 * again.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Action } from '../../spec/actions.ts';
import { findTransition, MACHINE_TRANSITIONS, type MachineState } from '../../spec/states.ts';
import { setMachineState } from '../../store/inventory/machines.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireLine } from '../rules/line.ts';
import { requireMachine, requireManualMachines } from './manual-machines.ts';

type Deps = Pick<Service, 'db' | 'clock' | 'compute'>;

/** Records that the disks were wiped by a method and the machine was tested. Fails unless it is `wiping`. */
export async function recordWipe(service: Deps, name: string, method: string): Promise<void> {
  const note = requireLine('method', method);
  await advanceMachine(service, name, {
    from: 'wiping',
    trigger: 'wipe',
    action: 'machine.wipe',
    audit: { note },
  });
}

/** Puts the machine back on sale. Fails unless it is `tested`. */
export async function putBackOnSale(service: Deps, name: string): Promise<void> {
  await advanceMachine(service, name, { from: 'tested', trigger: 'free', action: 'machine.free', audit: {} });
}

interface MachineStep {
  readonly from: 'wiping' | 'tested';
  readonly trigger: 'wipe' | 'free';
  readonly action: Action;
  readonly audit: { readonly note?: string };
}

async function advanceMachine(service: Deps, name: string, step: MachineStep): Promise<void> {
  requireManualMachines(service);
  await service.db.transaction(async (tx) => {
    const machine = await requireMachine(tx, name);
    if (machine.state !== step.from) throw new OperatorError(`${name} ${WRONG_STATE[machine.state]}`);
    const { to } = findTransition(MACHINE_TRANSITIONS, step.from, step.trigger);
    const now = service.clock.now();
    await setMachineState(tx, { id: machine.id, state: to, now });
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: step.action, resource: name, ...step.audit }, now);
  });
}

/** The reason why this step is not possible now. */
const WRONG_STATE: Record<MachineState, string> = {
  free: 'is free: no wipe is due',
  sold: 'is sold: wipe it after its server is deleted',
  wiping: 'is not wiped yet: report the wipe with --method first',
  tested: 'is already wiped and tested: put it back on sale with --free',
};
