/**
 * The end of a move: the task `move` deletes the copy on the host that does not have the machine, and
 * releases its capacity. A move that failed is then queued again, to another host or later.
 */

import { BACKOFF, backoffMs } from '../../../kernel/backoff.ts';
import { formatId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import type { DiskMove, Move } from '../../../ports/moves.ts';
import { deleteMove, findMove, lockMove, type MoveRow, requeueMove } from '../../../store/servers/moves.ts';
import type { OperationRow } from '../../../store/servers/operations.ts';
import { findServer } from '../../../store/servers/servers.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { callDriver, withDriverTimeout } from '../operations/driver-call.ts';
import { advance, retryWithBackoff } from '../operations/step.ts';
import { keepOnSource, recordMoveEnd } from './steps.ts';
import { diskMoveOf, requireMoves, transferOf } from './transfer.ts';

/** Failed moves after which a server stays, unless its host is drained. */
const ATTEMPTS_MAX = 5;

/** Until a legal hold is checked again. */
const HELD_WAIT_MS = MINUTE_MS;

/** Deletes the copy on the host without the machine. */
export async function forgetCopy(service: Service, move: MoveRow): Promise<TaskResult> {
  const loser = move.state === 'moved' ? 'from' : 'to';
  // The only copy that is left of a server under a legal hold.
  if (loser === 'from' && move.to_lost && (await findServer(service.db, move.server_id))?.held_at)
    return { againMs: HELD_WAIT_MS };
  // A lost host is never called again.
  if (!(loser === 'from' ? move.from_lost : move.to_lost))
    await withDriverTimeout(requireMoves(service).forget(anyTransferOf(service, move), loser));
  return await service.db.transaction(async (tx): Promise<TaskResult> => {
    const current = await lockMove(tx, move.server_id);
    if (current?.id !== move.id || current.state !== move.state) return { againMs: 0 };
    const mayRepeat = !move.for_resize && move.attempts + 1 < ATTEMPTS_MAX;
    const isWanted = !move.from_lost && (move.from_draining || mayRepeat);
    if (move.state !== 'kept' || !isWanted || !(await isStillThere(tx, move))) {
      await deleteMove(tx, move.id);
      return 'done';
    }
    await requeueMove(tx, move.id);
    return { againMs: backoffMs(BACKOFF.move, move.attempts + 1) };
  });
}

function anyTransferOf(service: Service, move: MoveRow): Move | DiskMove {
  return move.kind === 'server' ? transferOf(service, move) : diskMoveOf(service, move);
}

/** The start of a queued move looks at volumes and snapshots more closely. */
async function isStillThere(tx: Sql, { kind, server_id: id }: MoveRow): Promise<boolean> {
  if (kind !== 'server') return true;
  const server = await findServer(tx, id);
  return server !== undefined && server.status !== 'destroying';
}

/**
 * Ends a move under way whose server is being deleted or lost its host, so that one host has the machine.
 * Returns false if the step is postponed.
 */
export async function settleMoveForRemoval(service: Service, operation: OperationRow): Promise<boolean> {
  const move = await findMove(service.db, operation.server_id);
  if (move?.state !== 'copying' && move?.state !== 'switched') return true;
  const isKept = move.state === 'copying';
  const isLost = isKept ? move.from_lost : move.to_lost;
  if (!isLost && !(await (isKept ? keepOnSource : takenOver)(service, operation, move))) return false;
  await service.db.transaction(async (tx) => {
    await advance(service, operation, {}, tx);
    const now = service.clock.now();
    await recordMoveEnd(tx, move, { state: isKept ? 'kept' : 'moved', fault: null, now });
  });
  service.log.info({ server: formatId('server', move.server_id) }, 'move ended early');
  return false;
}

async function takenOver(service: Service, operation: OperationRow, move: MoveRow): Promise<boolean> {
  const fault = await callDriver(service, operation, {
    call: () => requireMoves(service).takeOver(transferOf(service, move)),
    failureMessage: 'machine could not be taken over from another host',
  });
  if (!fault || fault.fault === 'refused') return true;
  await advance(service, operation, retryWithBackoff(service, operation));
  return false;
}
