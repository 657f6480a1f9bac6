/**
 * Task `volume`: makes the driver match the state that the customer was shown. The driver confirms the state
 * that was read before the call, and those changes are announced; a later change makes the task due again. A
 * volume whose row is deleted is removed again: a worker that overslept may have attached it after the
 * removal.
 */
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { MINUTE_MS, SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import { listRunningActions } from '../../store/actions.ts';
import { findLossOfServer, releaseLostVolume } from '../../store/inventory/lost-hosts.ts';
import { findSeizure } from '../../store/inventory/shared-storage.ts';
import { isDiskMoving } from '../../store/servers/disk-moves.ts';
import type { TaskResult } from '../../store/tasks.ts';
import {
  detachVolume,
  drainVolumeChanges,
  findVolumeWork,
  isVolumeUnchanged,
  type VolumeWork,
} from '../../store/volumes/changes.ts';
import { deleteVolume, lockVolume, returnReservation } from '../../store/volumes/volumes.ts';
import { endEach, failure, SUCCESS } from '../actions/end.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { withDriverTimeout } from '../servers/operations/driver-call.ts';
import { volumeObject } from './read.ts';

const RECHECK_MS = SECOND_MS / 2;
/** While the server of a shared volume is on a lost host. */
const LOST_HOST_WAIT_MS = MINUTE_MS;
/** While the server that it was ordered with is installed. */
const INSTALL_WAIT_MS = MINUTE_MS;
/** Beyond the deadline at which a guest that was asked to shut down is powered off: its host may be down. */
const GRACE_MS = 10 * SECOND_MS;

export async function ensureVolume(service: Service, id: string): Promise<TaskResult> {
  const { compute } = service;
  const work = await findVolumeWork(service.db, id);
  if (await isDiskMoving(service.db, id)) return { againMs: RECHECK_MS };
  if (work?.shared) await seizeFromLostHost(service, id);
  if (work?.lost_at != null && work.deleted_at === null) return await recordLoss(service, work);
  if (!work || work.deleted_at !== null) {
    await withDriverTimeout(compute.detach(id));
    await withDriverTimeout(compute.removeVolume(id));
    if (work) await completeDeletion(service, work);
    return 'done';
  }
  if (isGuestShuttingDown(service, work)) return { againMs: RECHECK_MS };
  if (work.detached || work.server_id === null) await withDriverTimeout(compute.detach(id));
  // The server is installed on another host first, and its volumes are rechecked then.
  if (work.server_id !== null && (await findLossOfServer(service.db, work.server_id)))
    return { againMs: LOST_HOST_WAIT_MS };
  // It is attached once the server is installed, which makes this task due.
  if (work.awaits_install) return { againMs: INSTALL_WAIT_MS };
  if (!(await attach(service, work))) return { againMs: 0 };
  await withDriverTimeout(compute.grow(id, work.size_gb));
  await service.db.transaction(async (tx) => {
    // A customer may have detached it before its data was looked for on the host of that server.
    if (work.server_id === null && (await lockVolume(tx, work.customer_id, id)))
      await returnReservation(tx, id);
    // Those that began after the state was read wait for the next run.
    await endEach(tx, work.action_ids, SUCCESS, service.clock.now());
    await recordChangeEvents(service, tx, work);
  });
  return 'done';
}

/**
 * Takes a shared volume from a lost host. Its storage proves that the host can no longer write, before
 * anything else uses the volume.
 */
async function seizeFromLostHost({ db, compute }: Service, id: string): Promise<void> {
  const seizure = await findSeizure(db, id);
  if (seizure === undefined) return;
  if (seizure.by === null || compute.seizeVolume === null)
    throw new ComputeError('transient', 'no host can take the volume from a lost one');
  await withDriverTimeout(compute.seizeVolume(id, seizure.by));
}

/** Detaches a volume whose host is lost, and releases its disk. Nothing is left for a driver to do. */
async function recordLoss(
  service: Service,
  { id, customer_id: customerId }: VolumeWork,
): Promise<TaskResult> {
  await service.db.transaction(async (tx) => {
    const volume = await lockVolume(tx, customerId, id);
    if (!volume) return;
    if (volume.server_id !== null) await detachVolume(tx, id);
    const work = await findVolumeWork(tx, id);
    if (work) {
      await endEach(tx, work.action_ids, failure('host_failed'), service.clock.now());
      await recordChangeEvents(service, tx, work);
    }
    if (volume.disk_gb === 0) return;
    await releaseLostVolume(tx, id);
    const now = service.clock.now();
    const object = volumeObject({ ...volume, server_id: null, device: null });
    await recordEvent(tx, { customerId, type: 'volume.lost', object }, now);
    await recordAudit(
      tx,
      { actor: systemActor(now), action: 'volume.lose', resource: object.id, customerId },
      now,
    );
  });
  return 'done';
}

/** Whether the volume is in a guest that is shutting down and may still be writing to it. */
function isGuestShuttingDown({ clock, settings }: Service, { shutdown_since: since }: VolumeWork): boolean {
  const limitMs = settings.shutdownDeadlineS * SECOND_MS + GRACE_MS;
  return since !== null && clock.now().getTime() - since.getTime() < limitMs;
}

/** Ensures the attachment; false if the driver refused permanently and the volume is detached again. */
async function attach(service: Service, work: VolumeWork): Promise<boolean> {
  const { id, server_id, device, size_gb: sizeGb, shared } = work;
  if (server_id === null || device === null) return true;
  try {
    const spec = { id, sizeGb, device, ...(shared ? { shared } : {}) };
    await withDriverTimeout(service.compute.attach(server_id, spec));
    return true;
  } catch (error) {
    if (!(error instanceof ComputeError) || error.fault !== 'refused') throw error;
    const shown = { volume: formatId('volume', id), server: formatId('server', server_id) };
    service.log.error({ err: error, ...shown }, 'volume could not be attached');
    // It was attached there before and may still be in use, so only the operator should act.
    if (work.last_seq === null) return true;
    await revertAttachment(service, work);
    return false;
  }
}

/** Reverts a refused attachment: it was never announced, and the customer learns that it ended. */
async function revertAttachment(service: Service, work: VolumeWork): Promise<void> {
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await lockVolume(tx, work.customer_id, work.id);
    // The customer has requested something else meanwhile: that is tried next.
    if (!(await isVolumeUnchanged(tx, work))) return;
    await endReverted(tx, work, now);
    await recordChangeEvents(service, tx, work, { exceptLast: true });
    await detachVolume(tx, work.id);
    await returnReservation(tx, work.id);
    const resource = formatId('volume', work.id);
    const { customer_id: customerId } = work;
    await recordAudit(
      tx,
      { actor: systemActor(now), action: 'volume.detach', resource, result: 'error', customerId },
      now,
    );
  });
}

/** Ends the refused attachment, and what preceded it. A growth continues. */
async function endReverted(tx: Sql, work: VolumeWork, now: Date): Promise<void> {
  const running = (await listRunningActions(tx, work.id)).filter(({ id }) => work.action_ids.includes(id));
  const changes = running.filter(({ command }) => command !== 'volume.resize').map(({ id }) => id);
  await endEach(tx, changes.slice(-1), failure('host_failed'), now);
  await endEach(tx, changes, SUCCESS, now);
}

/** Deletes the row, which frees the disk, after the driver has removed the volume. */
async function completeDeletion(service: Service, work: VolumeWork): Promise<void> {
  await service.db.transaction(async (tx) => {
    await endEach(tx, work.action_ids, SUCCESS, service.clock.now());
    await recordChangeEvents(service, tx, work);
    await deleteVolume(tx, work.id);
  });
}

/**
 * Announces the changes that `work` was read with, each with the state at that time. Skips announced ones.
 */
async function recordChangeEvents(
  service: Service,
  tx: Sql,
  work: VolumeWork,
  { exceptLast = false }: { exceptLast?: boolean } = {},
): Promise<void> {
  if (work.last_seq === null) return;
  const now = service.clock.now();
  const changes = await drainVolumeChanges(tx, work.id, work.last_seq);
  const announced = exceptLast ? changes.filter(({ seq }) => seq !== work.last_seq) : changes;
  for (const [index, { event: type, server_id, device }] of announced.entries()) {
    const attachment = type === 'volume.attached' ? { server_id, device } : { server_id: null, device: null };
    const object = volumeObject({ ...work, ...attachment });
    // Give events of the same moment distinct times, so that they have an order.
    const at = new Date(now.getTime() + index);
    await recordEvent(tx, { customerId: work.customer_id, type, object }, at);
  }
}
