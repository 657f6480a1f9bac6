/**
 * Task `volume`: the driver has the volume as its customer was told. What was read before the driver was asked is what it
 * confirms, and those changes are announced; a later change has made the task due again. A volume whose row is gone is
 * removed once more: a worker that overslept may have attached it after it was removed.
 */
import { crashPoint } from '../../kernel/crash.ts';
import { formatId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import { ComputeError } from '../../ports/compute.ts';
import {
  detachVolume,
  drainVolumeChanges,
  findVolumeWork,
  isVolumeUnchanged,
  type VolumeWork,
} from '../../store/volume-changes.ts';
import { deleteVolume, lockVolume } from '../../store/volumes.ts';
import type { Service } from '../context.ts';
import { recordAudit, recordEvent, systemActor } from '../record.ts';
import { DRIVER_TIMEOUT_MS, withDriverTimeout } from '../servers/driver-timeout.ts';
import { volumeObject } from './object.ts';

const RECHECK_MS = SECOND_MS / 2;
/** Beyond the deadline, at which a guest that was asked to shut down is switched off: its host may be away. */
const GRACE_MS = 10 * SECOND_MS;

export async function ensureVolume(service: Service, id: string): Promise<'done' | { againMs: number }> {
  const { compute } = service;
  const work = await findVolumeWork(service.db, id);
  if (!work || work.deleted_at !== null) {
    await withDriverTimeout(DRIVER_TIMEOUT_MS, compute.detach(id));
    await withDriverTimeout(DRIVER_TIMEOUT_MS, compute.removeVolume(id));
    crashPoint('volume.removed');
    if (work) await completeDeletion(service, work);
    return 'done';
  }
  if (isGuestShuttingDown(service, work)) return { againMs: RECHECK_MS };
  if (work.detached || work.server_id === null)
    await withDriverTimeout(DRIVER_TIMEOUT_MS, compute.detach(id));
  if (!(await attach(service, work))) return { againMs: 0 };
  await withDriverTimeout(DRIVER_TIMEOUT_MS, compute.grow(id, work.size_gb));
  crashPoint('volume.ensured');
  await service.db.transaction((tx) => recordChangeEvents(service, tx, work));
  crashPoint('volume.recorded');
  return 'done';
}

/** Whether it is in a guest that was asked to shut down, and writes what it still has. */
function isGuestShuttingDown({ clock, settings }: Service, { shutdown_since: since }: VolumeWork): boolean {
  const limitMs = settings.shutdownDeadlineS * SECOND_MS + GRACE_MS;
  return since !== null && clock.now().getTime() - since.getTime() < limitMs;
}

/** Where it is to be attached, it is; false when the driver refused for good and the customer has it back, detached. */
async function attach(service: Service, work: VolumeWork): Promise<boolean> {
  const { id, server_id, device, size_gb: sizeGb } = work;
  if (server_id === null || device === null) return true;
  try {
    await withDriverTimeout(DRIVER_TIMEOUT_MS, service.compute.attach(server_id, { id, sizeGb, device }));
    return true;
  } catch (error) {
    if (!(error instanceof ComputeError) || error.fault !== 'refused') throw error;
    const shown = { volume: formatId('volume', id), server: formatId('server', server_id) };
    service.log.error({ err: error, ...shown }, 'volume could not be attached');
    // It was attached there before, so it may still be in use: it is only to be looked at by the operator.
    if (work.last_seq === null) return true;
    await revertAttachment(service, work);
    return false;
  }
}

/** The attachment that was answered will never be: it was not announced, and the customer is told that it is over. */
async function revertAttachment(service: Service, work: VolumeWork): Promise<void> {
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    await lockVolume(tx, work.customer_id, work.id);
    // Asked for something else meanwhile: that is what is tried next.
    if (!(await isVolumeUnchanged(tx, work))) return;
    await recordChangeEvents(service, tx, work, { exceptLast: true });
    await detachVolume(tx, work.id);
    const resource = formatId('volume', work.id);
    const { customer_id: customerId } = work;
    await recordAudit(
      tx,
      { actor: systemActor(now), action: 'volume.detach', resource, result: 'error', customerId },
      now,
    );
  });
}

/** The driver has removed it: the row goes, and the disk is free. */
async function completeDeletion(service: Service, work: VolumeWork): Promise<void> {
  await service.db.transaction(async (tx) => {
    await recordChangeEvents(service, tx, work);
    await deleteVolume(tx, work.id);
  });
  crashPoint('volume.recorded');
}

/** Tells of the changes that `work` was read with, each as the volume was then; those that another has told of not again. */
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
    // Events of one moment have no order: these have one.
    const at = new Date(now.getTime() + index);
    await recordEvent(tx, { customerId: work.customer_id, type, object }, at);
  }
}
