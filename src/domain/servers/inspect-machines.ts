/** Asks the driver for the state of many machines at once, then handles each operation in isolation. */
import { crashPoint } from '../../kernel/crash.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { MachineState } from '../../ports/compute.ts';
import type { OperationRow } from '../../store/servers/operations.ts';
import type { Service } from '../context.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from './driver-timeout.ts';
import { forEachIsolated, operationLogFields } from './step.ts';

/** How soon to look again at a machine that we wait for. */
export const POLL_INTERVAL_MS = SECOND_MS / 2;

/** `seen` is undefined if the driver did not answer. */
export type MachineStateHandler = (
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
) => Promise<void>;

export async function inspectMachines(
  service: Service,
  operations: readonly OperationRow[],
  handleState: MachineStateHandler,
): Promise<void> {
  const states = await observe(service, operations);
  crashPoint(operations[0]?.kind === 'provision' ? 'provision.observed' : 'operation.observed');
  await forEachIsolated(service, operations, (operation) =>
    handleState(service, operation, states.get(operation.server_id)),
  );
}

async function observe(
  service: Service,
  operations: readonly OperationRow[],
): Promise<Map<string, MachineState>> {
  try {
    const ids = operations.map((operation) => operation.server_id);
    const states = await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.observe(ids));
    return new Map(states.map((state) => [state.id, state]));
  } catch (error) {
    for (const operation of operations) {
      service.log.warn({ err: error, ...operationLogFields(operation) }, 'machine could not be observed');
    }
    return new Map();
  }
}
