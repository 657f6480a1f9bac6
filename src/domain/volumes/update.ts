import { fail, invalidRequest, notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Volume, VolumePatch } from '../../spec/schemas/volume.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import { enqueueTask } from '../../store/tasks.ts';
import {
  findVolume,
  lockVolume,
  reserveDisk,
  updateVolume as updateRow,
  type VolumeRow,
} from '../../store/volumes/volumes.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { requireDiskQuota } from './disk.ts';
import { volumeObject } from './object.ts';

/**
 * Renames a volume or grows it online. Refuses with `not_found`, `invalid_value` (smaller), `limit_reached`,
 * and `unavailable` (no disk space on its host).
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
    const disk_gb = await reserveGrowth(service, tx, volume, size_gb);
    const row = await updateRow(tx, { id, name: name ?? volume.name, size_gb, disk_gb });
    if (disk_gb > volume.disk_gb) await enqueueTask(tx, { kind: 'volume', subject: id, now });
    const object = volumeObject(row);
    await recordAudit(tx, { actor, action: 'volume.update', resource: object.id }, now);
    return object;
  });
  service.wake();
  return updated;
}

/** Reserves the growth and returns the volume's reserved disk: 0 if it was never attached. */
async function reserveGrowth(service: Service, tx: Sql, volume: VolumeRow, sizeGb: number): Promise<number> {
  const moreGb = sizeGb - volume.size_gb;
  const field = 'size_gb';
  if (moreGb < 0) {
    fail('invalid_value', { field }, `The volume has ${volume.size_gb} GiB. Volumes can only grow.`);
  }
  if (volume.disk_gb === 0 || moreGb === 0) return volume.disk_gb;
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
