/**
 * Rebuild and restore, step by step. Every step may run twice.
 *
 *   reinstall ── begun ──→ wait_installed ── runs on the next disk ──→ done
 *      │ refused                │ not on the next disk, or lost: reinstall again
 *      └──→ go_back ── the former disk is there, with its former power ──→ as it was
 *             └ on the next disk after all ──→ wait_installed
 *
 * The driver makes the next disk generation, switches to it and then deletes the former one, so a refusal leaves the
 * former one whole: going back takes nothing from the disk.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { MachineState } from '../../ports/compute.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { finishOperation, type OperationRow } from '../../store/operations.ts';
import { findBuildFacts } from '../../store/places.ts';
import { setInstalling } from '../../store/reinstalls.ts';
import { lockServer } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { releaseImage } from '../images/release.ts';
import { recordAudit, systemActor } from '../record.ts';
import { ask, type Fault } from './ask.ts';
import { carryOutFreeze } from './carry-out-freeze.ts';
import { complete } from './complete.ts';
import { LOOK_EVERY_MS, lookAt } from './look.ts';
import { machineSpec } from './machine-spec.ts';
import { reinstallPayload } from './payload.ts';
import { setPower } from './power-steps.ts';
import { advance, lostLease, type StepResult, shownOperation, soonAgain } from './step.ts';
import { waitsForSnapshot } from './waits-for-snapshot.ts';
import { ENSURE_MAX_MS } from './within.ts';

/**
 * A host that says this often that it cannot, counts as refusing: the disk is there and nowhere else. What lasts, as the copy
 * of a large snapshot, is not counted.
 */
const HOST_CANNOT_MAX = 5;
/** An install that takes longer than this is told to the operator, again and again; nothing else can be done for it. */
const SLOW_MS = 20 * MINUTE_MS;

export async function reinstall(service: Service, operation: OperationRow): Promise<void> {
  if (await waitsForSnapshot(service, operation)) return;
  const facts = await findBuildFacts(service.db, operation.server_id);
  const place = facts?.host_id ?? facts?.machine_id;
  if (!facts?.host || !place) throw new Error('a server without a place is installed anew');
  const machine = { id: operation.server_id, host: facts.host, generation: nextDisk(operation) };
  const spec = machineSpec(service, machine, facts);
  const { snapshot_id: snapshotId } = operation;
  const fault = await ask(service, operation, {
    ms: ENSURE_MAX_MS,
    call: () => (snapshotId ? service.compute.restore(spec, snapshotId) : service.compute.rebuild(spec)),
    failed: 'machine could not be installed anew',
  });
  crashPoint('reinstall.asked');
  await advance(service.db, service, operation, afterReinstall(service, operation, { fault, place }));
  crashPoint('reinstall.recorded');
}

function nextDisk(operation: OperationRow): number {
  return operation.generation + 1;
}

/** The host is noted as tried each time that it could not. */
function afterReinstall(
  service: Service,
  operation: OperationRow,
  { fault, place }: { readonly fault: Fault | null; readonly place: string },
): StepResult {
  if (!fault) return { step: 'wait_installed', inMs: LOOK_EVERY_MS, placedAt: service.clock.now() };
  const cannot = fault.fault === 'host';
  const triedHosts = cannot ? [...operation.tried_hosts, place] : operation.tried_hosts;
  const final = fault.fault === 'refused' || (cannot && triedHosts.length >= HOST_CANNOT_MAX);
  const next = final ? ({ step: 'go_back' } as const) : soonAgain(service, operation);
  return { ...next, triedHosts, fault: fault.message };
}

export async function waitInstalled(service: Service, operations: OperationRow[]): Promise<void> {
  await lookAt(service, operations, whetherInstalled);
}

export async function goBack(service: Service, operations: OperationRow[]): Promise<void> {
  await lookAt(service, operations, whetherBack);
}

async function whetherInstalled(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  const onNext = seen?.generation === nextDisk(operation);
  if (onNext && seen.state === 'running') return await complete(service, operation);
  if (onNext && seen.state === 'stopped') await setPower(service, operation, 'on');
  const slow = service.clock.now().getTime() - operation.placed_at.getTime() > SLOW_MS;
  let next: StepResult = soonAgain(service, operation);
  if (onNext && !slow) next = { inMs: LOOK_EVERY_MS };
  // What was begun is not there: a driver that is asked again begins it, or refuses.
  if (seen && !onNext && seen.state !== 'unknown') next = { ...next, step: 'reinstall' };
  await advance(service.db, service, operation, next);
}

async function whetherBack(
  service: Service,
  operation: OperationRow,
  seen: MachineState | undefined,
): Promise<void> {
  if (!seen || seen.state === 'unknown') {
    return await advance(service.db, service, operation, soonAgain(service, operation));
  }
  // An earlier call that seemed lost has begun the install after all.
  if (seen.generation === nextDisk(operation)) {
    const placedAt = service.clock.now();
    return await advance(service.db, service, operation, { step: 'wait_installed', placedAt });
  }
  const { status } = reinstallPayload(service, operation);
  if (seen.state !== 'absent') {
    // Where its power is as it was, too: from then on the driver does nothing more for the install.
    const fault = await setPower(service, operation, status === 'running' ? 'on' : 'off');
    if (fault && fault.fault !== 'refused') {
      return await advance(service.db, service, operation, soonAgain(service, operation));
    }
    if (!fault && seen.state !== status) {
      return await advance(service.db, service, operation, { inMs: LOOK_EVERY_MS });
    }
  }
  await recordBack(service, operation);
}

async function recordBack(service: Service, operation: OperationRow): Promise<void> {
  const now = service.clock.now();
  const former = reinstallPayload(service, operation);
  await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) return;
    if (!(await finishOperation(tx, operation))) lostLease();
    const { to } = move(SERVER_TRANSITIONS, 'installing', `go_back_${former.status}`);
    await setInstalling(tx, { id: server.id, ...former, status: to, userDataSealed: null, now });
    await releaseImage(tx, server.image_id, now);
    await recordAudit(
      tx,
      {
        actor: systemActor(now),
        action: operation.kind === 'restore' ? 'server.restore' : 'server.rebuild',
        resource: showId('server', server.id),
        result: 'error',
        customerId: server.customer_id,
      },
      now,
    );
    await carryOutFreeze(tx, service, server.id, now);
    crashPoint('operation.end_written');
  });
  crashPoint('operation.ended');
  service.log.error(
    { ...shownOperation(operation), reason: operation.last_fault },
    'server could not be installed anew and is as it was',
  );
}
