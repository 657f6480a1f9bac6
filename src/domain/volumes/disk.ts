/** The disk of a volume: what its customer may have of it, and the host that it lies on. */
import { fail, quotaExceeded } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockHosts, reserveDisk, sumVolumeDisk, type VolumeRow } from '../../store/volumes.ts';
import type { Service } from '../context.ts';

/** Refuses with `limit_reached` when so much more disk is beyond the quota. The caller holds the customer's balance. */
export async function requireDiskQuota(
  service: Service,
  tx: Sql,
  wanted: { readonly customerId: string; readonly moreGb: number; readonly field?: string },
): Promise<void> {
  const limit = service.settings.quotas.volumesDiskGb;
  const usedGb = await sumVolumeDisk(tx, wanted.customerId);
  if (usedGb + wanted.moreGb <= limit) return;
  quotaExceeded('volumesDiskGb', limit, { ...wanted, more: `Yours take ${usedGb} GiB.` });
}

/**
 * Takes the volume's disk on the host where it is going to be attached, and gives it back where it was. Null: a dedicated
 * machine, whose disks are its own. Refuses with `unavailable`. The caller holds the volume's lock.
 */
export async function moveDiskReservation(tx: Sql, volume: VolumeRow, hostId: string | null): Promise<void> {
  if (volume.host_id === hostId) return;
  await lockHosts(
    tx,
    [volume.host_id, hostId].filter((id) => id !== null),
  );
  if (hostId !== null && !(await reserveDisk(tx, hostId, volume.size_gb))) {
    fail('unavailable', { field: 'server' }, 'There is no room for this volume where the server runs.');
  }
  if (volume.host_id !== null) await reserveDisk(tx, volume.host_id, -volume.disk_gb);
}
