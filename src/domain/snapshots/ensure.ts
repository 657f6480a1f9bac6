/**
 * Task `snapshot`: makes a snapshot with the driver, deletes it at its `expires_at`, and removes what is left of one whose
 * row is gone. The task lives until there is nothing more to do, so a date of deletion is nothing but its due time.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { showId } from '../../kernel/ids.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError, type SnapshotState } from '../../ports/compute.ts';
import { move, SNAPSHOT_TRANSITIONS } from '../../spec/states.ts';
import {
  deleteSnapshot,
  endSnapshot,
  findSnapshotWork,
  isRestored,
  lockSnapshot,
  markSnapshotBegun,
  type SnapshotRow,
  type SnapshotWork,
} from '../../store/snapshots.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { ANSWER_MAX_MS, answerWithin } from '../servers/within.ts';
import { snapshotObject } from './object.ts';
import { canBeMade } from './under-way.ts';

const LOOK_AGAIN_MS = SECOND_MS / 2;
/** One that is not ready by then has failed. */
const MAKING_MAX_MS = HOUR_MS;

type Result = 'done' | { againMs: number };
const AT_ONCE: Result = { againMs: 0 };

export async function ensureSnapshot(service: Service, id: string): Promise<Result> {
  const snapshot = await findSnapshotWork(service.db, id);
  if (!snapshot) {
    await answerWithin(ANSWER_MAX_MS, service.compute.removeSnapshot(id));
    crashPoint('snapshot.removed');
    return 'done';
  }
  if (snapshot.status === 'creating') return await make(service, snapshot);
  // What there is of one that failed is of no use to anybody.
  if (snapshot.status === 'error') await answerWithin(ANSWER_MAX_MS, service.compute.removeSnapshot(id));
  return await keep(service, snapshot);
}

async function make(service: Service, snapshot: SnapshotWork): Promise<Result> {
  const seen = await look(service, snapshot);
  crashPoint('snapshot.asked');
  if (seen.state === 'creating') {
    if (!snapshot.begun) await markSnapshotBegun(service.db, snapshot.id);
    return { againMs: LOOK_AGAIN_MS };
  }
  await end(service, snapshot, seen);
  crashPoint('snapshot.recorded');
  return AT_ONCE;
}

/** How far the driver is with it; `failed` also where there is nothing to ask it about any more. */
async function look(service: Service, snapshot: SnapshotWork): Promise<SnapshotState> {
  const failed = { state: 'failed', sizeGb: 0 } as const;
  if (!canBeMade(snapshot, service.clock.now())) return failed;
  const late = service.clock.now().getTime() - snapshot.created_at.getTime() > MAKING_MAX_MS;
  try {
    const seen = await answerWithin(ANSWER_MAX_MS, service.compute.snapshot(snapshot.server_id, snapshot.id));
    return seen.state === 'creating' && late ? failed : seen;
  } catch (error) {
    const final = error instanceof ComputeError && error.fault === 'refused';
    if (!final && !late) throw error;
    service.log.error({ err: error, snapshot: showId('snapshot', snapshot.id) }, 'snapshot failed');
    return failed;
  }
}

async function end(service: Service, { id }: SnapshotRow, seen: SnapshotState): Promise<void> {
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const ready = seen.state === 'ready';
    const { to, event: type } = move(SNAPSHOT_TRANSITIONS, 'creating', ready ? 'finished' : 'failed');
    const row = await endSnapshot(tx, { id, status: to, sizeGb: ready ? seen.sizeGb : 0 });
    if (!row) return;
    const { customer_id: customerId } = row;
    await recordEvent(tx, { customerId, type, object: snapshotObject(row) }, now);
    const [action, result] = ready
      ? (['snapshot.finish', 'ok'] as const)
      : (['snapshot.fail', 'error'] as const);
    const resource = showId('snapshot', id);
    await recordAudit(tx, { actor: systemActor(now), action, resource, result, customerId }, now);
  });
}

/** It is kept until its date of deletion. */
async function keep(service: Service, snapshot: SnapshotRow): Promise<Result> {
  const { id, customer_id: customerId, expires_at: expiresAt } = snapshot;
  if (expiresAt === null) return 'done';
  const leftMs = expiresAt.getTime() - service.clock.now().getTime();
  if (leftMs > 0) return { againMs: leftMs };
  return await service.db.transaction(async (tx): Promise<Result> => {
    if (!(await lockSnapshot(tx, customerId, id))) return AT_ONCE;
    // The restore that is under way still needs it.
    if (await isRestored(tx, id)) return { againMs: MINUTE_MS };
    const now = service.clock.now();
    await deleteSnapshot(tx, id);
    const resource = showId('snapshot', id);
    await recordAudit(tx, { actor: systemActor(now), action: 'snapshot.delete', resource, customerId }, now);
    return AT_ONCE;
  });
}
