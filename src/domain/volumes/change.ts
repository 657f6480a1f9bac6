/** Creates, changes, and deletes volumes. */

import {
  fail,
  invalidRequest,
  notFound,
  refuseProtected,
  requireQuota,
  unknownReference,
} from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { ActionSummary } from '../../spec/schemas/action.ts';
import type { Volume, VolumeBody, VolumePatch } from '../../spec/schemas/volume.ts';
import { findRegion } from '../../store/catalogue/catalogue.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import { enqueueTask } from '../../store/tasks.ts';
import {
  countVolumes,
  deleteVolume as deleteRow,
  findVolume,
  insertVolume,
  lockVolume,
  markVolumeDeleted,
  reserveDisk,
  updateVolume as updateRow,
  type VolumeRow,
} from '../../store/volumes/volumes.ts';
import { beginAction, recordDone } from '../actions/begin.ts';
import { type BeganAction, beganAction } from '../actions/object.ts';
import type { CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { requireInsideNew, requireOperation } from '../tokens/limits/active.ts';
import { requireDiskQuota, requireNotMoving, throwVolumeLost } from './disk.ts';
import { volumeObject } from './read.ts';

/**
 * Creates a detached volume, which uses no disk until it is attached. Refuses with `unknown_reference`
 * (region) and `limit_reached`.
 */
export async function createVolume(
  service: Service,
  actor: CustomerActor,
  body: VolumeBody,
): Promise<Volume> {
  const name = parseDisplayName(body.name) ?? invalidRequest([{ field: 'name', issue: 'invalid_format' }]);
  return await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const region = (await findRegion(tx, body.region)) ?? unknownReference('region');
    requireInsideNew(actor.limits, { labels: body.labels ?? {}, region: region.id });
    // Without this lock, two concurrent requests would both see the last free slot.
    await lockBalance(tx, customerId);
    const { volumes: limit } = await readQuotas(service, tx, customerId);
    requireQuota('volumes', limit, await countVolumes(tx, customerId, limit));
    const row = await insertVolume(tx, {
      id: newId(now),
      customer_id: customerId,
      name,
      size_gb: body.size_gb,
      region_id: region.id,
      encrypted: body.encrypted ?? false,
      filesystem: body.filesystem ?? null,
      labels: body.labels ?? {},
      shared: region.volume_storage === 'shared',
      protect_delete: body.protection?.delete ?? false,
      created_at: now,
    });
    const done = { customerId, resourceId: row.id, command: 'volume.create', actor, now } as const;
    const volume = { ...volumeObject(row), action: beganAction(await recordDone(tx, done)) };
    await recordAudit(tx, { actor, action: 'volume.create', resource: volume.id }, now);
    await actor.saveResponse?.(tx, volume);
    return volume;
  });
}

/**
 * Renames a volume, grows it online, or changes its labels or protection. Refuses with `not_found`,
 * `conflict_state` (lost or moving), `invalid_value` (smaller), `limit_reached`, and `unavailable` (no disk
 * space on its host).
 */
export async function updateVolume(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: VolumePatch,
): Promise<Volume> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  const name =
    patch.name === undefined
      ? undefined
      : (parseDisplayName(patch.name) ?? invalidRequest([{ field: 'name', issue: 'invalid_format' }]));
  const updated = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    if (!(await findVolume(tx, customerId, id))) notFound('volume');
    // Without this lock, two concurrent resizes would both see the last free disk of the quota.
    if (patch.size_gb !== undefined) await lockBalance(tx, customerId);
    const volume = (await lockVolume(tx, customerId, id)) ?? notFound('volume');
    const size_gb = patch.size_gb ?? volume.size_gb;
    if (volume.protect_delete && patch.protection?.delete === false)
      requireOperation(actor.limits, 'volumes.unprotect');
    if (volume.lost_at !== null && patch.size_gb !== undefined) throwVolumeLost();
    const disk_gb = await reserveGrowth(service, tx, volume, size_gb);
    const row = await updateRow(tx, {
      id,
      name: name ?? volume.name,
      size_gb,
      disk_gb,
      labels: patch.labels ?? volume.labels,
      protect_delete: patch.protection?.delete ?? volume.protect_delete,
    });
    const resizing = disk_gb > volume.disk_gb ? await beginResize(tx, volume, actor, now) : null;
    const object = volumeObject(resizing ? row : ((await findVolume(tx, customerId, id)) ?? row));
    if (resizing) Object.assign(object, { action: resizing });
    await recordAudit(tx, { actor, action: 'volume.update', resource: object.id }, now);
    return object;
  });
  service.wake();
  return updated;
}

/** Starts what makes the disk larger. */
async function beginResize(
  tx: Sql,
  { id, customer_id: customerId, server_id: serverId }: VolumeRow,
  actor: CustomerActor,
  now: Date,
): Promise<ActionSummary> {
  await enqueueTask(tx, { kind: 'volume', subject: id, now });
  const ids = { customerId, resourceId: id, serverId };
  return beganAction(await beginAction(tx, { ...ids, command: 'volume.resize', actor, now }));
}

/** Reserves the growth and returns the volume's reserved disk: 0 if it was never attached. */
async function reserveGrowth(service: Service, tx: Sql, volume: VolumeRow, sizeGb: number): Promise<number> {
  const moreGb = sizeGb - volume.size_gb;
  const field = 'size_gb';
  if (moreGb < 0) {
    fail('invalid_value', { field }, `The volume has ${volume.size_gb} GiB. Volumes can only grow.`);
  }
  if (volume.disk_gb === 0 || moreGb === 0) return volume.disk_gb;
  await requireNotMoving(tx, volume.id);
  await requireDiskQuota(service, tx, { customerId: volume.customer_id, moreGb, field });
  if (volume.host_id !== null && !(await reserveDisk(tx, volume.host_id, moreGb))) {
    fail(
      'unavailable',
      { field },
      "The volume's host does not have enough disk space. Ask for less, or create another volume.",
    );
  }
  return sizeGb;
}

/**
 * Permanently deletes a detached volume and its content. Its disk is free once the driver confirms. Refuses
 * with `not_found`, `conflict_state`, and `protected`.
 */
export async function deleteVolume(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<BeganAction> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  const action = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const volume = (await lockVolume(tx, actor.customerId, id)) ?? notFound('volume');
    if (volume.server_id !== null) {
      fail('conflict_state', {}, 'The volume is attached to a server. Detach it first.');
    }
    if (volume.protect_delete) refuseProtected('delete', 'The volume is protected against deletion.');
    await recordAudit(tx, { actor, action: 'volume.delete', resource: formatId('volume', id) }, now);
    const { customerId } = actor;
    const deletion = { customerId, resourceId: id, command: 'volume.delete', actor, now } as const;
    if (volume.disk_gb === 0) {
      await deleteRow(tx, id);
      return await recordDone(tx, deletion);
    }
    await markVolumeDeleted(tx, id, now);
    await enqueueTask(tx, { kind: 'volume', subject: id, now });
    return await beginAction(tx, deletion);
  });
  service.wake();
  return { action: beganAction(action) };
}
