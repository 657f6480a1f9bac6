/**
 * Task `snapshot`: creates a snapshot with the driver, deletes it at its `expires_at`, and removes the
 * driver's copy once the row is deleted. The task exists until nothing is left to do, so an expiration is
 * only its due time.
 */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import { ComputeError, type SnapshotState } from '../../ports/compute.ts';
import type { ActionErrorCode } from '../../spec/action-commands.ts';
import { findTransition, type ServerStatus, SNAPSHOT_TRANSITIONS } from '../../spec/states.ts';
import { isDiskMoving } from '../../store/servers/disk-moves.ts';
import type { OperationRow } from '../../store/servers/operations.ts';
import { requestCopies, settleCopy } from '../../store/servers/snapshot-copies.ts';
import {
  deleteSnapshot,
  findSnapshotWork,
  finishSnapshot,
  hasSnapshotInProgress,
  isBeingRestored,
  lockSnapshot,
  loseSnapshot,
  markSnapshotStarted,
  type SnapshotRow,
  type SnapshotWork,
} from '../../store/snapshots.ts';
import { enqueueTask, type TaskResult } from '../../store/tasks.ts';
import { endAllOf, failure, SUCCESS } from '../actions/end.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { POLL_INTERVAL_MS, withDriverTimeout } from '../servers/operations/driver-call.ts';
import { advance } from '../servers/operations/step.ts';
import { snapshotObject } from './read.ts';

/** A snapshot that no driver starts by then blocks nothing: the server's host may be down. */
const START_TIMEOUT_MS = MINUTE_MS;
/** A snapshot that is not ready by then has failed. */
const CREATE_TIMEOUT_MS = HOUR_MS;
const DISK_REPLACING_STATUSES: readonly ServerStatus[] = ['installing', 'destroying'];

const RERUN_NOW: TaskResult = { againMs: 0 };

export async function ensureSnapshot(service: Service, id: string): Promise<TaskResult> {
  const snapshot = await findSnapshotWork(service.db, id);
  if (await isDiskMoving(service.db, id)) return { againMs: POLL_INTERVAL_MS };
  if (!snapshot) {
    // First: a host that does not answer must not keep the copy.
    await settleCopy(service.db, id);
    await withDriverTimeout(service.compute.removeSnapshot(id));
    await service.db.transaction((tx) => endAllOf(tx, id, SUCCESS, service.clock.now()));
    return 'done';
  }
  if (snapshot.lost_at !== null && snapshot.status !== 'error') return await recordLoss(service, snapshot);
  if (snapshot.status === 'creating') return await advanceCreation(service, snapshot);
  // Nothing can use what a failed snapshot left behind.
  if (snapshot.status === 'error') await withDriverTimeout(service.compute.removeSnapshot(id));
  return await deleteWhenExpired(service, snapshot);
}

async function advanceCreation(service: Service, snapshot: SnapshotWork): Promise<TaskResult> {
  const seen = await readProgress(service, snapshot);
  if (seen.state === 'creating') {
    if (!snapshot.begun) await markSnapshotStarted(service.db, snapshot.id);
    return { againMs: POLL_INTERVAL_MS };
  }
  await recordEnd(service, snapshot, seen);
  return RERUN_NOW;
}

/** The driver's report, and the code of a failure that it does not name. */
type SeenSnapshot = SnapshotState & { readonly code?: ActionErrorCode };

/** Asks the driver for the progress; also `failed` if there is nothing left to ask about. */
async function readProgress(service: Service, snapshot: SnapshotWork): Promise<SeenSnapshot> {
  const failed = { state: 'failed', sizeGb: 0 } as const;
  // Its disk was replaced or deleted first.
  if (!canCreateSnapshot(snapshot, service.clock.now())) return { ...failed, code: 'cancelled' };
  const isOverdue = service.clock.now().getTime() - snapshot.created_at.getTime() > CREATE_TIMEOUT_MS;
  try {
    const seen = await withDriverTimeout(service.compute.snapshot(snapshot.server_id, snapshot.id));
    return seen.state === 'creating' && isOverdue ? { ...failed, code: 'timeout' } : seen;
  } catch (error) {
    const isFinal = error instanceof ComputeError && error.fault === 'refused';
    if (!isFinal && !isOverdue) throw error;
    service.log.error({ err: error, snapshot: formatId('snapshot', snapshot.id) }, 'snapshot failed');
    return failed;
  }
}

async function recordEnd(service: Service, { id }: SnapshotRow, seen: SeenSnapshot): Promise<void> {
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const ready = seen.state === 'ready';
    const { to, event: type } = findTransition(
      SNAPSHOT_TRANSITIONS,
      'creating',
      ready ? 'finished' : 'failed',
    );
    const row = await finishSnapshot(tx, { id, status: to, sizeGb: ready ? seen.sizeGb : 0 });
    if (!row) return;
    const { customer_id: customerId } = row;
    if (ready && service.settings.copySnapshots) await requestCopies(tx, [id]);
    await endAllOf(tx, id, ready ? SUCCESS : failure(seen.code ?? 'host_failed'), now);
    await recordEvent(tx, { customerId, type, object: snapshotObject(row) }, now);
    await continueBackups(tx, row, now);
    const [action, result] = ready
      ? (['snapshot.finish', 'ok'] as const)
      : (['snapshot.fail', 'error'] as const);
    const resource = formatId('snapshot', id);
    await recordAudit(tx, { actor: systemActor(now), action, resource, result, customerId }, now);
  });
}

/** The end of a backup belongs to the policy of its server, too. */
async function continueBackups(tx: Sql, { type, server_id: subject }: SnapshotRow, now: Date): Promise<void> {
  if (type === 'backup') await enqueueTask(tx, { kind: 'backup', subject, now });
}

/** Its host is lost. What is left of it on record needs no driver. */
async function recordLoss(service: Service, { id, status }: SnapshotWork): Promise<TaskResult> {
  if (status === 'error') return RERUN_NOW;
  await service.db.transaction(async (tx) => {
    const row = await loseSnapshot(tx, id);
    if (!row) return;
    const now = service.clock.now();
    await settleCopy(tx, id);
    await endAllOf(tx, id, failure('host_failed'), now);
    const { customer_id: customerId } = row;
    const { event: type } = findTransition(SNAPSHOT_TRANSITIONS, status, 'lost');
    await recordEvent(tx, { customerId, type, object: snapshotObject(row) }, now);
    await continueBackups(tx, row, now);
    const audit = { action: 'snapshot.fail', resource: formatId('snapshot', id), result: 'error' } as const;
    await recordAudit(tx, { actor: systemActor(now), ...audit, customerId }, now);
  });
  return RERUN_NOW;
}

/** Keeps the snapshot until it expires, or longer while it is protected. */
async function deleteWhenExpired(service: Service, snapshot: SnapshotRow): Promise<TaskResult> {
  const { id, customer_id: customerId, expires_at: expiresAt } = snapshot;
  if (expiresAt === null || snapshot.protect_delete) return 'done';
  const leftMs = expiresAt.getTime() - service.clock.now().getTime();
  if (leftMs > 0) return { againMs: leftMs };
  return await service.db.transaction(async (tx): Promise<TaskResult> => {
    const locked = await lockSnapshot(tx, customerId, id);
    const isSame = locked?.expires_at?.getTime() === expiresAt.getTime() && !locked.protect_delete;
    if (!isSame) return RERUN_NOW;
    // A restore under way still needs it.
    if (await isBeingRestored(tx, id)) return { againMs: MINUTE_MS };
    const now = service.clock.now();
    await deleteSnapshot(tx, id);
    const resource = formatId('snapshot', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'snapshot.delete', resource, customerId }, now);
    return RERUN_NOW;
  });
}

/**
 * Whether the driver can still create the snapshot: the server exists and has the intended disk. Started
 * after a rebuild, it would capture a disk that the customer did not mean.
 */
function canCreateSnapshot(snapshot: SnapshotWork, now: Date): boolean {
  if (snapshot.server_status === null) return false;
  if (snapshot.begun) return true;
  const isOverdue = now.getTime() - snapshot.created_at.getTime() >= START_TIMEOUT_MS;
  if (isOverdue && DISK_REPLACING_STATUSES.includes(snapshot.server_status)) return false;
  return snapshot.server_generation === snapshot.generation;
}

/**
 * Postpones a step that removes the disk while a snapshot of it is in progress or about to start; returns
 * whether it did. A customer with a 201 for the snapshot relies on the disk.
 */
export async function deferForSnapshot(service: Service, operation: OperationRow): Promise<boolean> {
  const { server_id: serverId, attempts } = operation;
  const since = new Date(service.clock.now().getTime() - START_TIMEOUT_MS);
  if (!(await hasSnapshotInProgress(service.db, serverId, since))) return false;
  await advance(service, operation, { attempts, inMs: POLL_INTERVAL_MS });
  return true;
}
