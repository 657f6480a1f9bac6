/**
 * The move of a detached volume or of a snapshot, which the tasks `volume_move` and `snapshot_move` carry
 * out. Every step may run twice.
 *
 *   queued → copying ── sent ──→ (commit: the target has it) switched → the target takes over → moved
 *              │ failed, refused, failing for long, or deleted by its customer
 *              └──→ (commit: the source keeps it) kept → the source continues
 *
 * Then the copy on the other host is deleted. A move that was kept is queued again.
 */
import { formatId } from '../../../kernel/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../../kernel/time.ts';
import { ComputeError } from '../../../ports/compute.ts';
import { findMovedDisk, noteFailingCopy, switchDisk } from '../../../store/servers/disk-moves.ts';
import { findMove, type MoveRow, setMoveProgress } from '../../../store/servers/moves.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { ENSURE_TIMEOUT_MS, POLL_INTERVAL_MS, withDriverTimeout } from '../operations/driver-call.ts';
import { describeFault } from '../operations/step.ts';
import { lockWithDisk, startDiskMove } from './disk-start.ts';
import { forgetCopy } from './end.ts';
import { isEitherLost, recordMoveEnd } from './steps.ts';
import { diskMoveOf, requireMoves } from './transfer.ts';

/** A copy that fails for longer is given up, and tried with another host. */
const FAILING_MAX_MS = 2 * MINUTE_MS;
const RETRY_MS = 5 * SECOND_MS;

export async function continueDiskMove(service: Service, id: string): Promise<TaskResult> {
  const move = await findMove(service.db, id);
  if (!move) return 'done';
  // Without a driver that moves, for example after a change of settings, nothing can be continued.
  if (service.compute.moves === null) return { againMs: MINUTE_MS };
  switch (move.state) {
    case 'queued':
      return await startDiskMove(service, id);
    case 'copying':
      return await copyDisk(service, move);
    case 'switched':
      return await takeOverDisk(service, move);
    case 'kept':
      await keepOnSource(service, move);
      return await forgetCopy(service, move);
    case 'moved':
      return await forgetCopy(service, move);
  }
}

async function copyDisk(service: Service, move: MoveRow): Promise<TaskResult> {
  if (move.to_lost || move.from_lost) return await endDiskMove(service, move, kept('the host is lost'));
  const disk = await findMovedDisk(service.db, move);
  // Its customer deleted it.
  if (disk === null) return await endDiskMove(service, move, kept(null));
  const transfer = diskMoveOf(service, move);
  const moves = requireMoves(service);
  try {
    const endpoint = await withDriverTimeout(moves.receiveDisk(transfer, disk), ENSURE_TIMEOUT_MS);
    const progress = await withDriverTimeout(moves.send(transfer, endpoint), ENSURE_TIMEOUT_MS);
    if (progress.state === 'failed')
      return await endDiskMove(service, move, kept(progress.message ?? 'the copy failed'));
    if (progress.state === 'sent') return await switchHost(service, move);
    await setMoveProgress(service.db, move.id, progress);
    return { againMs: POLL_INTERVAL_MS };
  } catch (error) {
    return await handleFault(service, move, error);
  }
}

/** Gives up at once if repeating cannot help, and otherwise once the hosts have failed for long. */
async function handleFault(service: Service, move: MoveRow, error: unknown): Promise<TaskResult> {
  const fault = describeFault(error);
  const shown = { err: error, [move.kind]: shownId(move) };
  service.log.warn(shown, 'disk could not be sent to another host');
  const mayPass = !(error instanceof ComputeError) || error.fault === 'transient';
  const now = service.clock.now();
  const since = mayPass ? await noteFailingCopy(service.db, move.id, { fault, now }) : null;
  if (since === null || now.getTime() - since.getTime() >= FAILING_MAX_MS)
    return await endDiskMove(service, move, kept(fault));
  return { againMs: RETRY_MS };
}

async function switchHost(service: Service, move: MoveRow): Promise<TaskResult> {
  const lost = await service.db.transaction(async (tx) => {
    const current = await lockWithDisk(tx, move.server_id);
    if (current?.id !== move.id || current.state !== 'copying') return false;
    // A host that is lost later finds the volume or snapshot where this transaction puts it.
    if (await isEitherLost(tx, current)) return true;
    await switchDisk(tx, current);
    return false;
  });
  return lost ? await endDiskMove(service, move, kept('the host is lost')) : { againMs: 0 };
}

/** Retried for as long as it takes: only the target has it. */
async function takeOverDisk(service: Service, move: MoveRow): Promise<TaskResult> {
  if (!move.to_lost)
    await withDriverTimeout(requireMoves(service).takeOver(diskMoveOf(service, move)), ENSURE_TIMEOUT_MS);
  return await endDiskMove(service, move, { state: 'moved', fault: null });
}

/** The move can no longer switch, so the source has it for good. */
async function keepOnSource(service: Service, move: MoveRow): Promise<void> {
  // A lost host is never called again.
  if (move.from_lost) return;
  await withDriverTimeout(requireMoves(service).keep(diskMoveOf(service, move))).catch((error: unknown) => {
    // Refused: the source has nothing of it, so there is nothing to continue.
    if (!(error instanceof ComputeError) || error.fault !== 'refused') throw error;
  });
}

interface MoveEnd {
  readonly state: 'moved' | 'kept';
  readonly fault: string | null;
}

function kept(fault: string | null): MoveEnd {
  return { state: 'kept', fault };
}

async function endDiskMove(service: Service, move: MoveRow, end: MoveEnd): Promise<TaskResult> {
  const now = service.clock.now();
  await service.db.transaction(async (tx) => {
    const current = await lockWithDisk(tx, move.server_id);
    if (current?.id !== move.id || current.state !== move.state) return;
    await recordMoveEnd(tx, current, { ...end, now });
    const action = current.kind === 'volume' ? 'volume.move' : 'snapshot.move';
    const result = end.state === 'moved' ? 'ok' : 'error';
    await recordAudit(tx, { actor: systemActor(now), action, resource: shownId(move), result }, now);
  });
  const shown = { [move.kind]: shownId(move), from: move.from_name, to: move.to_name };
  if (end.state === 'moved') service.log.info(shown, 'disk moved to another host');
  else service.log.error({ ...shown, reason: end.fault }, 'disk could not be moved and stays on its host');
  service.wake();
  return { againMs: 0 };
}

function shownId({ kind, server_id: id }: MoveRow): string {
  return formatId(kind, id);
}
