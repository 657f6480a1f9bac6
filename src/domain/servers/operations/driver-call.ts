/**
 * Calls the driver for a step: only while the operation's lease is held, and with a timeout. A call that
 * hangs would block its operation, the job, and shutdown. A timeout counts as `transient` and the call may
 * still take effect: steps are *ensure* and run again, and drivers process the calls for one machine in
 * order.
 */
import { LeaseLost } from '../../../kernel/fail.ts';
import { runWithLease } from '../../../kernel/faults/lease-context.ts';
import { MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import { ComputeError, type MachineState } from '../../../ports/compute.ts';
import { holdsOperationLease, type OperationRow } from '../../../store/servers/operations.ts';
import type { Service } from '../../context.ts';
import { describeFault, forEachIsolated, operationLogFields } from './step.ts';

/** Why the driver failed. */
export type DriverFault = Pick<ComputeError, 'fault' | 'message'>;

/**
 * Returns null on success. Checks the lease right before the call: a worker that overslept, or whose server
 * is being destroyed, must not recreate a removed machine or remove its successor's.
 */
export async function callDriver(
  service: Service,
  operation: OperationRow,
  act: {
    readonly timeoutMs?: number;
    readonly call: () => Promise<unknown>;
    readonly failureMessage: string;
  },
): Promise<DriverFault | null> {
  const isHeld = () => holdsOperationLease(service.db, operation);
  if (!(await isHeld())) throw new LeaseLost();
  try {
    await withDriverTimeout(runWithLease(isHeld, act.call), act.timeoutMs);
    return null;
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    const fault = error instanceof ComputeError ? error.fault : 'transient';
    if (fault !== 'waiting')
      service.log.warn({ err: error, ...operationLogFields(operation) }, act.failureMessage);
    return { fault, message: describeFault(error) };
  }
}

export const ENSURE_TIMEOUT_MS = MINUTE_MS;
/** For the other calls. */
const DRIVER_TIMEOUT_MS = 30 * SECOND_MS;

/** Returns the call's result, or throws a `transient` ComputeError after `ms` of real time. */
export async function withDriverTimeout<T>(call: Promise<T>, ms = DRIVER_TIMEOUT_MS): Promise<T> {
  const error = () => new ComputeError('transient', `no answer within ${ms / SECOND_MS} s`);
  return await withTimeout(call, ms, error);
}

/** How soon to call again while the host receives an image. */
export const IMAGE_WAIT_MS = 2 * SECOND_MS;
/** After this time, the host counts as unable to get it. */
export const IMAGE_TIMEOUT_MS = 60 * MINUTE_MS;

/** How soon to look again at a machine that we wait for. */
export const POLL_INTERVAL_MS = SECOND_MS / 2;

/** `seen` is undefined if the driver did not answer. */
type MachineStateHandler = (
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
) => Promise<void>;

/** A step that asks the driver for the state of many machines at once, then handles each in isolation. */
export function observationStep(handleState: MachineStateHandler) {
  return async (service: Service, operations: readonly OperationRow[]): Promise<void> => {
    const states = await observe(service, operations);
    await forEachIsolated(service, operations, (operation) =>
      handleState(service, operation, states.get(operation.server_id)),
    );
  };
}

async function observe(
  service: Service,
  operations: readonly OperationRow[],
): Promise<Map<string, MachineState>> {
  try {
    const ids = operations.map((operation) => operation.server_id);
    const states = await withDriverTimeout(service.compute.observe(ids));
    return new Map(states.map((state) => [state.id, state]));
  } catch (error) {
    for (const operation of operations) {
      service.log.warn({ err: error, ...operationLogFields(operation) }, 'machine could not be observed');
    }
    return new Map();
  }
}
