/**
 * Power, step by step. Every step may run twice; each says what is wanted, then looks until it is so.
 *
 *   stop          shut_down ─→ wait_off ── off ──→ done         (asked again and again; at the deadline switched off)
 *   reboot        shut_down ─→ wait_off ── off ──→ wait_on ── runs ──→ done
 *   hard reboot   reset ─→ wait_on                              (one that is off is switched on)
 *   start         wait_on
 *   rescue        enter_rescue ─→ wait_on
 *   suspend       like stop, and never given up while the machine is there
 *
 * A host that is silent is waited for: the machine is there and nowhere else. A driver that refuses ends the operation.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { MachineState, PowerAction } from '../../ports/compute.ts';
import type { OperationRow } from '../../store/operations.ts';
import { hasDetachingVolume } from '../../store/volume-changes.ts';
import type { Service } from '../context.ts';
import { completeOperation, failOperation } from './complete-operation.ts';
import { callDriver, type DriverFault } from './driver-call.ts';
import { DRIVER_TIMEOUT_MS } from './driver-timeout.ts';
import { inspectMachines, POLL_INTERVAL_MS } from './inspect-machines.ts';
import { rescuePayload } from './payload.ts';
import { advance, retryWithBackoff, type StepResult } from './step.ts';

/** How soon a guest that still runs is asked again to shut down. */
const SHUTDOWN_REPEAT_MS = 5 * SECOND_MS;

/** How long a machine that is off waits for a volume that leaves it, before it is switched on. */
const VOLUME_DETACH_WAIT_MS = 15 * SECOND_MS;

const MACHINE_ABSENT = 'the host has no such machine';

export async function shutDown(service: Service, operation: OperationRow): Promise<void> {
  const fault = await setPower(service, operation, 'acpi');
  const next = { step: 'wait_off', inMs: POLL_INTERVAL_MS, placedAt: service.clock.now() } as const;
  await advanceAfterCall(service, operation, fault, next);
}

export async function resetMachine(service: Service, operation: OperationRow): Promise<void> {
  const fault = await setPower(service, operation, 'reset');
  await advanceAfterCall(service, operation, fault, { step: 'wait_on' });
}

export async function enterRescue(service: Service, operation: OperationRow): Promise<void> {
  const fault = await callDriver(service, operation, {
    timeoutMs: DRIVER_TIMEOUT_MS,
    call: () => service.compute.rescue(operation.server_id, rescuePayload(service, operation)),
    failureMessage: 'machine could not be rescued',
  });
  await advanceAfterCall(service, operation, fault, { step: 'wait_on' });
}

export async function waitOff(service: Service, operations: OperationRow[]): Promise<void> {
  await inspectMachines(service, operations, handleWaitOff);
}

export async function waitOn(service: Service, operations: OperationRow[]): Promise<void> {
  await inspectMachines(service, operations, handleWaitOn);
}

/** Null once the driver has done it. */
export async function setPower(
  service: Service,
  operation: OperationRow,
  action: PowerAction,
): Promise<DriverFault | null> {
  return await callDriver(service, operation, {
    timeoutMs: DRIVER_TIMEOUT_MS,
    call: () => service.compute.power(operation.server_id, action),
    failureMessage: POWER_FAILURE_MESSAGES[action],
  });
}

const POWER_FAILURE_MESSAGES: Record<PowerAction, string> = {
  on: 'machine could not be switched on',
  off: 'machine could not be switched off',
  acpi: 'machine could not be asked to shut down',
  reset: 'machine could not be reset',
};

async function handleWaitOff(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  switch (seen?.state) {
    case 'stopped':
      if (operation.kind === 'stop' || operation.kind === 'suspend')
        return await completeOperation(service, operation);
      return await advance(service.db, service, operation, { step: 'wait_on' });
    case 'running':
    case 'installing': {
      const sinceMs = service.clock.now().getTime() - operation.placed_at.getTime();
      const leftMs = service.settings.shutdownDeadlineS * SECOND_MS - sinceMs;
      if (leftMs > 0) {
        if (seen.state === 'running') await repeatShutdown(service, operation);
        const inMs = Math.min(POLL_INTERVAL_MS, leftMs);
        return await advance(service.db, service, operation, { inMs });
      }
      const fault = await setPower(service, operation, 'off');
      return await advanceAfterCall(service, operation, fault, { inMs: POLL_INTERVAL_MS });
    }
    default:
      await handleMissingMachine(service, operation, seen);
  }
}

/**
 * A guest that is still booting does not hear the button, and one that shuts down does not mind it. Asked again when a
 * round has passed since the look before; whether it was heard is seen by looking.
 */
async function repeatShutdown(service: Service, operation: OperationRow): Promise<void> {
  const rounds = (atMs: number) => Math.floor((atMs - operation.placed_at.getTime()) / SHUTDOWN_REPEAT_MS);
  const previousPollMs = operation.due_at.getTime() - POLL_INTERVAL_MS;
  if (rounds(service.clock.now().getTime()) > rounds(previousPollMs))
    await setPower(service, operation, 'acpi');
}

async function handleWaitOn(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  const rescue = operation.kind === 'rescue';
  if (seen?.state === 'running' && seen.rescue === rescue) return await completeOperation(service, operation);
  switch (seen?.state) {
    case 'stopped': {
      if (rescue) return await advance(service.db, service, operation, { step: 'enter_rescue' });
      if (await deferForLeavingVolume(service, operation)) return;
      const fault = await setPower(service, operation, 'on');
      return await advanceAfterCall(service, operation, fault, { inMs: POLL_INTERVAL_MS });
    }
    case 'running':
      // Not the system that was asked for: the act is repeated, a little later each time.
      return await advance(service.db, service, operation, {
        ...retryWithBackoff(service, operation),
        step: rescue ? 'enter_rescue' : 'reset',
      });
    case 'installing':
      return await advance(service.db, service, operation, { inMs: POLL_INTERVAL_MS });
    default:
      await handleMissingMachine(service, operation, seen);
  }
}

/**
 * Whether the step was put off because a volume is to be taken from the machine first: switched on now, it would have in use
 * what its customer was told is detached. A driver that does not manage that keeps nobody waiting for long.
 */
async function deferForLeavingVolume(service: Service, operation: OperationRow): Promise<boolean> {
  const sinceMs = service.clock.now().getTime() - operation.placed_at.getTime();
  if (sinceMs >= VOLUME_DETACH_WAIT_MS || !(await hasDetachingVolume(service.db, operation.server_id)))
    return false;
  await advance(service.db, service, operation, { inMs: POLL_INTERVAL_MS });
  return true;
}

async function handleMissingMachine(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (seen?.state === 'absent') return await failOperation(service, operation, MACHINE_ABSENT);
  await advance(service.db, service, operation, retryWithBackoff(service, operation));
}

/** The next step when the driver did it; the same one again when it may do it later. */
async function advanceAfterCall(
  service: Service,
  operation: OperationRow,
  fault: DriverFault | null,
  next: StepResult,
): Promise<void> {
  crashPoint('operation.asked');
  if (fault?.fault === 'refused') {
    if (operation.kind === 'suspend') return await retryUntilOff(service, operation, fault);
    return await failOperation(service, operation, fault.message);
  }
  await advance(
    service.db,
    service,
    operation,
    fault ? { ...retryWithBackoff(service, operation), fault: fault.message } : next,
  );
  crashPoint('operation.recorded');
}

/** A server that is suspended must not go on for free: what the driver refuses is tried again, with its power off next. */
async function retryUntilOff(service: Service, operation: OperationRow, fault: DriverFault): Promise<void> {
  await advance(service.db, service, operation, {
    ...retryWithBackoff(service, operation),
    step: 'wait_off',
    fault: fault.message,
  });
}
