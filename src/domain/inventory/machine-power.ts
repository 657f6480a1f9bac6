/** Records manual power changes of machines without a driver, so that the remaining work is known. */
import { OperatorError } from '../../kernel/operator-error.ts';
import { type MachineRow, setMachineOff } from '../../store/inventory/machines.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import {
  type ManualAction,
  pendingManualAction,
  requireMachine,
  requireManualMachines,
} from './manual-machines.ts';

/** The result. `changed` is false if it was already recorded. */
export interface MachinePowerResult {
  readonly changed: boolean;
  readonly pendingAction: ManualAction | null;
  readonly serverStatus: MachineRow['server_status'];
}

/** Records that a sold machine was powered off or on. */
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
