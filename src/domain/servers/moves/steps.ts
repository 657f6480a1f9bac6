/**
 * A move's operation, step by step. Every step may run twice.
 *
 *   copy ── sent ──→ (commit: the target has the server) ──→ take_over ── runs there ──→ done
 *     │ failed, refused, silent for long, or frozen
 *     └──→ keep ── the source continues ──→ done; the task `move` queues it again
 *
 * The commit between `copy` and `take_over` alone decides who has the machine. The task `move` deletes the
 * copy that is left on the other host, whose silence so blocks no other operation on the server.
 */
import type { Sql } from '../../../kernel/sql.ts';
import type { MoveProgress } from '../../../ports/moves.ts';
import { lockLoss } from '../../../store/inventory/lost-hosts.ts';
import { queueSnapshotsOf } from '../../../store/servers/disk-moves.ts';
import { switchPlacement } from '../../../store/servers/move-switch.ts';
import {
  enqueueMove,
  listQueuedFrom,
  type MoveRow,
  type MoveState,
  setMoveProgress,
  setMoveState,
} from '../../../store/servers/moves.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { findServer, lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { enqueueTask } from '../../../store/tasks.ts';
import { failure, SUCCESS } from '../../actions/end.ts';
import type { Service } from '../../context.ts';
import { recheckAttachedVolumes } from '../../volumes/attach.ts';
import {
  callDriver,
  type DriverFault,
  ENSURE_TIMEOUT_MS,
  POLL_INTERVAL_MS,
} from '../operations/driver-call.ts';
import {
  advance,
  endOperation,
  operationLogFields,
  retryWithBackoff,
  type StepResult,
} from '../operations/step.ts';
import { applyFreeze, pendingFreezeChange } from '../operator/apply-freeze.ts';
import { auditServer } from '../transition.ts';
import { movedMachine, requireMoves, requireStartedMove, transferOf } from './transfer.ts';

/** Consecutive transient faults (some minutes) after which a move is given up. */
const TRANSIENT_ATTEMPTS_MAX = 8;

/** Step `copy`: the target makes room, and the source sends. */
export async function copyMachine(service: Service, operation: OperationRow): Promise<void> {
  const move = await requireStartedMove(service, operation.server_id);
  const server = await findServer(service.db, operation.server_id);
  if (server && pendingFreezeChange(server))
    return await advance(service, operation, { step: 'keep', fault: 'the server is being frozen' });
  if (move.to_lost) return await advance(service, operation, { step: 'keep', fault: 'the host is lost' });
  const machine = await movedMachine(service, move);
  const transfer = transferOf(service, move);
  const moves = requireMoves(service);
  let progress: MoveProgress | null = null;
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: async () => {
      const endpoint = await moves.receive(transfer, machine);
      progress = await moves.send(transfer, endpoint);
    },
    failureMessage: 'machine could not be sent to another host',
  });
  await recordProgress(service, operation, { move, fault, progress });
}

async function recordProgress(
  service: Service,
  operation: OperationRow,
  seen: {
    readonly move: MoveRow;
    readonly fault: DriverFault | null;
    readonly progress: MoveProgress | null;
  },
): Promise<void> {
  const { move, fault, progress } = seen;
  if (fault || progress === null)
    return await advance(service, operation, nextAfterFault(service, operation, fault));
  if (progress.state === 'failed') {
    const message = progress.message ?? 'the copy failed';
    return await advance(service, operation, { step: 'keep', fault: message });
  }
  if (progress.state === 'sent') return await switchHost(service, operation, move);
  await service.db.transaction(async (tx) => {
    await setMoveProgress(tx, move.id, progress);
    await advance(service, operation, { inMs: POLL_INTERVAL_MS }, tx);
  });
}

function nextAfterFault(service: Service, operation: OperationRow, fault: DriverFault | null): StepResult {
  const message = fault?.message ?? 'no answer';
  const mayPass = fault === null || fault.fault === 'transient';
  if (mayPass && operation.attempts + 1 < TRANSIENT_ATTEMPTS_MAX)
    return { ...retryWithBackoff(service, operation), fault: message };
  return { step: 'keep', fault: message };
}

/** The machine is paused on both hosts, so the next step follows at once. */
async function switchHost(service: Service, operation: OperationRow, move: MoveRow): Promise<void> {
  await service.db.transaction(async (tx) => {
    if (!(await lockServer(tx, operation.server_id))) return;
    if (await isEitherLost(tx, move))
      return await advance(service, operation, { step: 'keep', fault: 'the host is lost' }, tx);
    await advance(service, operation, { step: 'take_over' }, tx);
    await switchPlacement(tx, move);
  });
}

/** A host that is lost later finds the server, and its volumes, where this transaction puts them. */
export async function isEitherLost(tx: Sql, { from_host: from, to_host: to }: MoveRow): Promise<boolean> {
  const losses = [];
  // In one order, or two moves between the same hosts could deadlock.
  for (const id of [from, to].filter((each) => each !== null).sort()) losses.push(await lockLoss(tx, id));
  return losses.some((loss) => loss !== undefined);
}

/** Step `take_over`: the target runs the machine if it ran before. Retried for as long as it takes. */
export async function takeOverMachine(service: Service, operation: OperationRow): Promise<void> {
  const move = await requireStartedMove(service, operation.server_id);
  const fault = await callDriver(service, operation, {
    timeoutMs: ENSURE_TIMEOUT_MS,
    call: () => requireMoves(service).takeOver(transferOf(service, move)),
    failureMessage: 'machine could not be taken over from another host',
  });
  if (fault) {
    const retry = { ...retryWithBackoff(service, operation), fault: fault.message };
    return await advance(service, operation, retry);
  }
  await endMove(service, operation, move, 'moved');
  const shown = { ...operationLogFields(operation), from: move.from_name, to: move.to_name };
  service.log.info(shown, 'server moved to another host');
}

/** Step `keep`: the source continues with the machine. */
export async function keepMachine(service: Service, operation: OperationRow): Promise<void> {
  const move = await requireStartedMove(service, operation.server_id);
  if (!(await keepOnSource(service, operation, move))) return;
  await endMove(service, operation, move, 'kept');
  const shown = { ...operationLogFields(operation), to: move.to_name, reason: operation.last_fault };
  service.log.error(shown, 'server could not be moved and stays on its host');
}

/** Whether the source confirms that it continues; otherwise the step is postponed. */
export async function keepOnSource(
  service: Service,
  operation: OperationRow,
  move: MoveRow,
): Promise<boolean> {
  const fault = await callDriver(service, operation, {
    call: () => requireMoves(service).keep(transferOf(service, move)),
    failureMessage: 'move could not be ended on its source',
  });
  // Refused: the source has no such machine, so there is nothing to continue.
  if (!fault || fault.fault === 'refused') return true;
  await advance(service, operation, retryWithBackoff(service, operation));
  return false;
}

async function endMove(
  service: Service,
  operation: OperationRow,
  move: MoveRow,
  state: Extract<MoveState, 'moved' | 'kept'>,
): Promise<void> {
  const fault = state === 'kept' ? operation.last_fault : null;
  async function record(tx: Sql, server: ServerRow, now: Date): Promise<void> {
    await recordMoveEnd(tx, move, { state, fault, now });
    if (state === 'moved') {
      await reapplyOutside(tx, server.id, now);
      await sendSnapshotsAfter(tx, move, now);
    }
    await auditServer(tx, server, 'server.move', now, state === 'moved' ? 'ok' : 'error');
  }
  if (operation.kind === 'resize') {
    await service.db.transaction(async (tx) => {
      const server = await lockServer(tx, operation.server_id);
      if (!server) return;
      await record(tx, server, service.clock.now());
      await advance(service, operation, { step: state === 'moved' ? 'resize' : 'undo_resize' }, tx);
    });
  } else {
    const end = state === 'moved' ? SUCCESS : failure('host_failed');
    const recordAndFreeze = async (tx: Sql, server: ServerRow, now: Date): Promise<void> => {
      await record(tx, server, now);
      await applyFreeze(tx, service, server.id, now);
    };
    await endOperation(service, operation, recordAndFreeze, end);
  }
  service.wake();
}

/** Leaves the copy to the task, and lets the next queued moves start. */
export async function recordMoveEnd(
  tx: Sql,
  move: MoveRow,
  end: { readonly state: 'moved' | 'kept'; readonly fault: string | null; readonly now: Date },
): Promise<void> {
  const { state, fault, now } = end;
  await setMoveState(tx, move.id, state, fault);
  await enqueueMove(tx, move, now);
  for (const next of await listQueuedFrom(tx, move.from_host, 2)) await enqueueMove(tx, next, now);
}

/** A server can only be restored from snapshots that are where it is. */
async function sendSnapshotsAfter(tx: Sql, move: MoveRow, now: Date): Promise<void> {
  const queued = await queueSnapshotsOf(tx, { id: move.server_id, from: move.from_host, now });
  for (const snapshot of queued) await enqueueMove(tx, snapshot, now);
}

/** Changes on the source after it began to send may be missing on the target. */
async function reapplyOutside(tx: Sql, serverId: string, now: Date): Promise<void> {
  await enqueueTask(tx, { kind: 'filter', subject: serverId, now });
  await enqueueTask(tx, { kind: 'traffic', subject: serverId, now });
  await recheckAttachedVolumes(tx, [serverId], now);
}
