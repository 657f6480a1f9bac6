/**
 * Power operations, step by step. Every step may run twice: it requests a state, then polls until reached.
 *
 *   stop          shut_down ─→ wait_off ── off ──→ done       (repeats the request; off at the deadline)
 *   reboot        shut_down ─→ wait_off ── off ──→ wait_on ── runs ──→ done
 *   hard reboot   reset ─→ wait_on                            (powers the machine on if it is off)
 *   start         wait_on
 *   rescue        enter_rescue ─→ wait_on
 *   suspend       like stop, but never gives up while the machine exists
 *   resize        shut_down ─→ wait_off ── off ──→ resize … wait_on ── runs ──→ done  (resize/steps.ts)
 *
 * A silent host is waited for, because the machine is nowhere else. A driver that refuses ends the operation.
 */
import { MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import type { MachineState, PowerAction } from '../../../ports/compute.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { hasDetachingVolume } from '../../../store/volumes/changes.ts';
import type { Service } from '../../context.ts';
import { deferForSnapshot } from '../../snapshots/ensure.ts';
import { completeOperation, failOperation } from './complete.ts';
import {
  callDriver,
  type DriverFault,
  IMAGE_WAIT_MS,
  observationStep,
  POLL_INTERVAL_MS,
} from './driver-call.ts';
import { advance, retryWithBackoff, type StepResult } from './step.ts';
import { rescuePayload } from './step-inputs.ts';

/** How often to repeat the shutdown request while the guest still runs. */
const SHUTDOWN_REPEAT_MS = 5 * SECOND_MS;

/** How long to wait for a volume to be detached before powering the machine on. */
const VOLUME_DETACH_WAIT_MS = 15 * SECOND_MS;

const MACHINE_ABSENT = 'the host does not have this machine';

export async function shutDown(service: Service, operation: OperationRow): Promise<void> {
  // A resize waits for snapshots, and the machine would be off meanwhile.
  if (operation.kind === 'resize' && (await deferForSnapshot(service, operation))) return;
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
    call: () => service.compute.rescue(operation.server_id, rescuePayload(service, operation)),
    failureMessage: 'machine could not enter rescue mode',
  });
  await advanceAfterCall(service, operation, fault, { step: 'wait_on' });
}

/** Returns null on success. */
export async function setPower(
  service: Service,
  operation: OperationRow,
  action: PowerAction,
): Promise<DriverFault | null> {
  return await callDriver(service, operation, {
    call: () => service.compute.power(operation.server_id, action),
    failureMessage: POWER_FAILURE_MESSAGES[action],
  });
}

const POWER_FAILURE_MESSAGES: Record<PowerAction, string> = {
  on: 'machine could not be powered on',
  off: 'machine could not be powered off',
  acpi: 'machine could not be asked to shut down',
  reset: 'machine could not be reset',
};

export const waitOff = observationStep(async (service, operation, seen) => {
  switch (seen?.state) {
    case 'stopped':
      if (operation.kind === 'stop' || operation.kind === 'suspend')
        return await completeOperation(service, operation);
      return await advance(service, operation, { step: operation.kind === 'resize' ? 'resize' : 'wait_on' });
    case 'running':
    case 'installing': {
      const sinceMs = service.clock.now().getTime() - operation.placed_at.getTime();
      const leftMs = service.settings.shutdownDeadlineS * SECOND_MS - sinceMs;
      if (leftMs > 0) {
        if (seen.state === 'running') await repeatShutdown(service, operation);
        const inMs = Math.min(POLL_INTERVAL_MS, leftMs);
        return await advance(service, operation, { inMs });
      }
      const fault = await setPower(service, operation, 'off');
      return await advanceAfterCall(service, operation, fault, { inMs: POLL_INTERVAL_MS });
    }
    default:
      await handleMissingMachine(service, operation, seen);
  }
});

/**
 * Repeats the shutdown request once per interval; the next poll shows the effect. A guest that is still
 * booting misses the ACPI button, and a guest that is shutting down ignores it.
 */
async function repeatShutdown(service: Service, operation: OperationRow): Promise<void> {
  const rounds = (atMs: number) => Math.floor((atMs - operation.placed_at.getTime()) / SHUTDOWN_REPEAT_MS);
  const previousPollMs = operation.due_at.getTime() - POLL_INTERVAL_MS;
  if (rounds(service.clock.now().getTime()) > rounds(previousPollMs))
    await setPower(service, operation, 'acpi');
}

export const waitOn = observationStep(async (service, operation, seen) => {
  const rescue = operation.kind === 'rescue';
  if (seen?.state === 'running' && seen.rescue === rescue) return await completeOperation(service, operation);
  switch (seen?.state) {
    case 'stopped': {
      if (rescue) return await advance(service, operation, { step: 'enter_rescue' });
      if (operation.kind === 'resize' && doesNotStart(service, operation))
        return await failOperation(service, operation, operation.last_fault ?? 'the machine does not start');
      if (await deferForLeavingVolume(service, operation)) return;
      const fault = await setPower(service, operation, 'on');
      return await advanceAfterCall(service, operation, fault, { inMs: POLL_INTERVAL_MS });
    }
    case 'running':
      // The wrong system is running: repeat the request, with backoff.
      return await advance(service, operation, {
        ...retryWithBackoff(service, operation),
        step: rescue ? 'enter_rescue' : 'reset',
      });
    case 'installing':
      return await advance(service, operation, { inMs: POLL_INTERVAL_MS });
    default:
      await handleMissingMachine(service, operation, seen);
  }
});

/** Consecutive faults of its host, and a time, after which a machine goes back to its previous size. */
const START_FAULTS_MAX = 4;
const START_MAX_MS = 5 * MINUTE_MS;

function doesNotStart(service: Service, { attempts, placed_at: since }: OperationRow): boolean {
  return attempts >= START_FAULTS_MAX || service.clock.now().getTime() - since.getTime() > START_MAX_MS;
}

/**
 * Postpones the step while a volume is being detached: powered on now, the machine would use a volume that
 * its customer already sees as detached. Gives up soon if the driver does not manage it.
 */
async function deferForLeavingVolume(service: Service, operation: OperationRow): Promise<boolean> {
  const sinceMs = service.clock.now().getTime() - operation.placed_at.getTime();
  if (sinceMs >= VOLUME_DETACH_WAIT_MS || !(await hasDetachingVolume(service.db, operation.server_id)))
    return false;
  await advance(service, operation, { inMs: POLL_INTERVAL_MS });
  return true;
}

async function handleMissingMachine(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (seen?.state === 'absent') return await failOperation(service, operation, MACHINE_ABSENT);
  await advance(service, operation, retryWithBackoff(service, operation));
}

/** Writes the next step on success, or the same step again for a fault that may pass. */
async function advanceAfterCall(
  service: Service,
  operation: OperationRow,
  fault: DriverFault | null,
  next: StepResult,
): Promise<void> {
  if (fault?.fault === 'refused' && operation.kind !== 'suspend')
    return await failOperation(service, operation, fault.message);
  // A suspended server must not keep running for free: a refused shutdown becomes a power-off.
  const step = fault?.fault === 'refused' ? 'wait_off' : operation.step;
  if (fault === null) return await advance(service, operation, next);
  const again = fault.fault === 'waiting' ? { inMs: IMAGE_WAIT_MS } : retryWithBackoff(service, operation);
  await advance(service, operation, { ...again, step, fault: fault.message });
}
