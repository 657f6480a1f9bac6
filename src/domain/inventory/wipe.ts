/** The way back of a machine whose server ended: its disks are wiped and it is tested, then it is on sale again. */
import { Refusal } from '../../kernel/refusal.ts';
import type { Action } from '../../spec/actions.ts';
import { MACHINE_TRANSITIONS, type MachineState, move } from '../../spec/states.ts';
import { setMachineState } from '../../store/machines.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { requireLine } from '../rules/line.ts';
import { requireByHand, requireMachine } from './by-hand.ts';

type Parts = Pick<Service, 'db' | 'clock' | 'compute'>;

/** Records that the disks were wiped, by which method, and that the machine was tested since. Refuses unless it is `wiping`. */
export async function recordWiped(service: Parts, name: string, method: string): Promise<void> {
  const note = requireLine('method', method);
  await advance(service, name, { from: 'wiping', trigger: 'wipe', action: 'machine.wipe', said: { note } });
}

/** Puts it back on sale. Refuses unless it is `tested`. */
export async function putBackOnSale(service: Parts, name: string): Promise<void> {
  await advance(service, name, { from: 'tested', trigger: 'free', action: 'machine.free', said: {} });
}

interface Step {
  readonly from: 'wiping' | 'tested';
  readonly trigger: 'wipe' | 'free';
  readonly action: Action;
  readonly said: { readonly note?: string };
}

async function advance(service: Parts, name: string, step: Step): Promise<void> {
  requireByHand(service);
  await service.db.transaction(async (tx) => {
    const machine = await requireMachine(tx, name);
    if (machine.state !== step.from) throw new Refusal(`${name} ${INSTEAD[machine.state]}`);
    const { to } = move(MACHINE_TRANSITIONS, step.from, step.trigger);
    const now = service.clock.now();
    await setMachineState(tx, { id: machine.id, state: to, now });
    const actor = systemActor(now);
    await recordAudit(tx, { actor, action: step.action, resource: name, ...step.said }, now);
  });
}

/** Why this is not its next step. */
const INSTEAD: Record<MachineState, string> = {
  free: 'is free: there is nothing to wipe',
  sold: 'is sold: it is wiped when its server is gone',
  wiping: 'was not wiped yet: --method says how, once it was',
  tested: 'was wiped and tested already: --free puts it back on sale',
};
