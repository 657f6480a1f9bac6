/**
 * Rebuild and restore, step by step. Every step may run twice.
 *
 *   reinstall ── started ──→ wait_installed ── runs on the next disk ──→ done
 *      │ refused                │ not on the next disk, or lost: reinstall again
 *      └──→ go_back (roll back) ── the previous disk is intact, with its previous power state ──→ rolled back
 *             └ on the next disk after all ──→ wait_installed
 *
 * The driver creates the next disk generation, switches to it, and then deletes the previous one. So a
 * refusal leaves the previous disk intact, and a rollback loses no data.
 */
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../../spec/states.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { findBuildDetails } from '../../../store/servers/placements.ts';
import { setReinstallState } from '../../../store/servers/reinstalls.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { failure } from '../../actions/end.ts';
import type { Service } from '../../context.ts';
import { releaseImage } from '../../images/remove.ts';
import { deferForSnapshot } from '../../snapshots/ensure.ts';
import { applyFreeze } from '../operator/apply-freeze.ts';
import { auditServer } from '../transition.ts';
import { hasArrived } from './bring-snapshot.ts';
import { completeOperation } from './complete.ts';
import {
  callDriver,
  type DriverFault,
  ENSURE_TIMEOUT_MS,
  IMAGE_WAIT_MS,
  observationStep,
  POLL_INTERVAL_MS,
} from './driver-call.ts';
import { setPower } from './power-steps.ts';
import { advance, endOperation, operationLogFields, retryWithBackoff, type StepResult } from './step.ts';
import { buildMachineSpec, reinstallPayload } from './step-inputs.ts';

/**
 * The reinstall fails after this many host faults, because no other host has the disk. Transient waits, such
 * as copying a large snapshot, do not count.
 */
const HOST_FAULTS_MAX = 5;
/** A longer install backs off, so that `retryWithBackoff` reports it to the operator repeatedly. */
const SLOW_INSTALL_MS = 20 * MINUTE_MS;

export async function reinstall(service: Service, operation: OperationRow): Promise<void> {
  if (await deferForSnapshot(service, operation)) return;
  const facts = await findBuildDetails(service.db, operation.server_id);
  const place = facts?.host_id ?? facts?.machine_id;
  if (!facts?.host || !place) throw new Error('cannot reinstall a server without a host');
  const machine = { id: operation.server_id, host: facts.host, generation: nextGeneration(operation) };
  const spec = buildMachineSpec(service, machine, facts);
  const { snapshot_id: snapshotId } = operation;
  if (snapshotId !== null && !(await hasArrived(service, operation, snapshotId, 'go_back'))) return;
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => (snapshotId ? service.compute.restore(spec, snapshotId) : service.compute.rebuild(spec)),
    failureMessage: 'machine could not be reinstalled',
  });
  await advance(service, operation, nextStepAfterReinstall(service, operation, { fault, place }));
}

function nextGeneration(operation: OperationRow): number {
  return operation.generation + 1;
}

/** Adds the host to `triedHosts` at each host fault. The length of the list is the number of faults. */
function nextStepAfterReinstall(
  service: Service,
  operation: OperationRow,
  { fault, place }: { readonly fault: DriverFault | null; readonly place: string },
): StepResult {
  if (!fault) return { step: 'wait_installed', inMs: POLL_INTERVAL_MS, placedAt: service.clock.now() };
  if (fault.fault === 'waiting') return { inMs: IMAGE_WAIT_MS, fault: fault.message };
  const isHostFault = fault.fault === 'host';
  const triedHosts = isHostFault ? [...operation.tried_hosts, place] : operation.tried_hosts;
  const final = fault.fault === 'refused' || (isHostFault && triedHosts.length >= HOST_FAULTS_MAX);
  const next = final ? ({ step: 'go_back' } as const) : retryWithBackoff(service, operation);
  const cause = fault.fault === 'refused' ? 'image_broken' : 'host_failed';
  return { ...next, triedHosts, fault: fault.message, cause };
}

export const waitInstalled = observationStep(async (service, operation, seen) => {
  const isOnNextDisk = seen?.generation === nextGeneration(operation);
  if (isOnNextDisk && seen.state === 'running') return await completeOperation(service, operation);
  if (isOnNextDisk && seen.state === 'stopped') await setPower(service, operation, 'on');
  // `placed_at` is when the install started.
  const isSlow = service.clock.now().getTime() - operation.placed_at.getTime() > SLOW_INSTALL_MS;
  let next: StepResult = retryWithBackoff(service, operation);
  if (isOnNextDisk && !isSlow) next = { inMs: POLL_INTERVAL_MS };
  // The install has not started: the driver starts it on the next request, or refuses.
  if (seen && !isOnNextDisk && seen.state !== 'unknown') next = { ...next, step: 'reinstall' };
  await advance(service, operation, next);
});

export const rollBack = observationStep(async (service, operation, seen) => {
  if (!seen || seen.state === 'unknown') {
    return await advance(service, operation, retryWithBackoff(service, operation));
  }
  // An earlier call that seemed lost started the install after all.
  if (seen.generation === nextGeneration(operation)) {
    const placedAt = service.clock.now();
    return await advance(service, operation, { step: 'wait_installed', placedAt });
  }
  const { status } = reinstallPayload(service, operation);
  if (seen.state !== 'absent') {
    // Also if the power state is already right: this call makes the driver abandon the install.
    const fault = await setPower(service, operation, status === 'running' ? 'on' : 'off');
    if (fault && fault.fault !== 'refused') {
      return await advance(service, operation, retryWithBackoff(service, operation));
    }
    if (!fault && seen.state !== status) {
      return await advance(service, operation, { inMs: POLL_INTERVAL_MS });
    }
  }
  await completeRollback(service, operation);
});

async function completeRollback(service: Service, operation: OperationRow): Promise<void> {
  const previous = reinstallPayload(service, operation);
  const action = operation.kind === 'restore' ? 'server.restore' : 'server.rebuild';
  const record = async (tx: Sql, server: ServerRow, now: Date): Promise<void> => {
    const { to } = findTransition(SERVER_TRANSITIONS, 'installing', `go_back_${previous.status}`);
    await setReinstallState(tx, { id: server.id, ...previous, status: to, userDataSealed: null, now });
    await releaseImage(tx, server.image_id, now);
    await auditServer(tx, server, action, now, 'error');
    await applyFreeze(tx, service, server.id, now);
  };
  await endOperation(service, operation, record, failure(operation.cause ?? 'host_failed'));
  service.log.error(
    { ...operationLogFields(operation), reason: operation.last_fault },
    'server could not be reinstalled and was rolled back',
  );
}
