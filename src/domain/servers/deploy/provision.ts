/**
 * Provisioning, step by step. Every step may run twice: the driver's verbs are *ensure*, and only the holder
 * of the operation's lease writes what a step found.
 *
 *   ensure ── created ───────────→ observe ── running ──→ done
 *     │ │ host fault                  │ silent or too slow (lost: ensure again)
 *     │ └──────→ leave_host ←─────────┘
 *     │            │ machine is off the host: another host → ensure; none left → refund, remove
 *     └ refused ─→ give_up
 *                  │ machine is off the host → refund, `destroying`, remove
 *
 * The old host must confirm that it does not have the machine before another host creates it: two machines
 * with one address would be worse than a delay.
 */
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { MachineState } from '../../../ports/compute.ts';
import type { ComputeFault } from '../../../ports/compute-fault.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { findBuildDetails } from '../../../store/servers/placements.ts';
import { lockServer } from '../../../store/servers/servers.ts';
import type { Service } from '../../context.ts';
import { readFilter } from '../../firewall/apply.ts';
import { hasArrived } from '../operations/bring-snapshot.ts';
import { completeOperation } from '../operations/complete.ts';
import {
  callDriver,
  ENSURE_TIMEOUT_MS,
  IMAGE_TIMEOUT_MS,
  IMAGE_WAIT_MS,
  observationStep,
  POLL_INTERVAL_MS,
} from '../operations/driver-call.ts';
import { setPower } from '../operations/power-steps.ts';
import { advance, operationLogFields, retryWithBackoff, type StepResult } from '../operations/step.ts';
import { buildMachineSpec } from '../operations/step-inputs.ts';
import { moveServer } from '../transition.ts';

/** Consecutive transient faults after which a host counts as unable. */
const TRANSIENT_ATTEMPTS_MAX = 5;

/** Step `ensure`: creates the machine on its host and starts its install. */
export async function ensureMachine(service: Service, operation: OperationRow): Promise<void> {
  const facts = await findBuildDetails(service.db, operation.server_id);
  if (!facts?.host) return await advance(service, operation, { step: 'leave_host' });
  const machine = { id: operation.server_id, host: facts.host, generation: facts.generation };
  const filter = await readFilter(service, operation.server_id);
  const { snapshot_id: snapshotId } = operation;
  const spec = {
    ...buildMachineSpec(service, machine, facts),
    filter,
    ...(operation.never_started ? { createdOff: true as const } : {}),
    ...(snapshotId === null ? {} : { snapshotId }),
  };
  if (snapshotId !== null && !(await hasArrived(service, operation, snapshotId, 'leave_host'))) return;
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => service.compute.ensure(spec),
    failureMessage: 'machine could not be created',
  });
  if (fault === null) return await recordInstalling(service, operation);
  await advance(service, operation, {
    ...nextStepAfterFault(service, operation, fault.fault),
    fault: fault.message,
  });
}

function nextStepAfterFault(service: Service, operation: OperationRow, fault: ComputeFault): StepResult {
  const now = service.clock.now();
  // The time limit of the install begins when the host has the image.
  if (fault === 'waiting' && now.getTime() - operation.created_at.getTime() < IMAGE_TIMEOUT_MS)
    return { inMs: IMAGE_WAIT_MS, placedAt: now };
  // Every host would refuse for the same reason, so do not try another one.
  if (fault === 'refused') return { step: 'give_up', cause: 'image_broken' };
  if (fault === 'transient' && operation.attempts + 1 < TRANSIENT_ATTEMPTS_MAX)
    return retryWithBackoff(service, operation);
  return { step: 'leave_host', cause: fault === 'waiting' ? 'timeout' : 'host_failed' };
}

async function recordInstalling(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (server.status === 'provisioning') await moveServer(tx, server, 'install_begins', now);
    // At once: an install from a warm image may be done already.
    await advance(service, operation, { step: 'observe' }, tx);
  });
}

/** An install that takes longer than this has failed on its host. Simulated installs are shorter. */
export const INSTALL_TIMEOUT_MS = 20 * MINUTE_MS;
/** Consecutive attempts without an answer (some minutes) before leaving the host. */
const SILENT_ATTEMPTS_MAX = 12;

/**
 * Step `observe`: checks all first installs with one driver call and completes those that run, or that are
 * off as they should be.
 */
export const observeInstalls = observationStep(async (service, operation, seen) => {
  const { never_started: staysOff } = operation;
  if (seen?.state === (staysOff ? 'stopped' : 'running')) return await completeOperation(service, operation);
  // An install only progresses in a machine that is on. If powering it on fails, the next poll retries.
  if (seen?.state === 'stopped') await setPower(service, operation, 'on');
  // An earlier version of its host has powered it on.
  if (staysOff && (seen?.state === 'installing' || seen?.state === 'running'))
    await setPower(service, operation, 'off');
  const result = nextInstallStep(service, operation, seen);
  await advance(service, operation, result);
  if (result.fault) {
    service.log.warn(
      { ...operationLogFields(operation), reason: result.fault },
      'install is not progressing',
    );
  }
});

function nextInstallStep(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): StepResult {
  const isTimedOut = service.clock.now().getTime() - operation.placed_at.getTime() > INSTALL_TIMEOUT_MS;
  const leaveHost = { step: 'leave_host', fault: 'the install took too long', cause: 'boot_failed' } as const;
  switch (seen?.state) {
    case 'installing':
    case 'running':
    case 'stopped':
      return isTimedOut ? leaveHost : { inMs: POLL_INTERVAL_MS };
    case 'absent':
      // The host lost the machine: recreate it, on the same host while there is time.
      return isTimedOut ? leaveHost : { step: 'ensure', fault: 'the host lost the machine' };
    default:
      if (operation.attempts < SILENT_ATTEMPTS_MAX) return retryWithBackoff(service, operation);
      return { step: 'leave_host', fault: 'the host did not answer', cause: 'unreachable' };
  }
}
