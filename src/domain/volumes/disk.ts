/** Accounts for the disk of volumes: the customer's quota, and the space on their hosts. */
import { fail, quotaExceeded } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { lockHosts, reserveDisk, sumVolumeDisk, type VolumeRow } from '../../store/volumes/volumes.ts';
import type { Service } from '../context.ts';

/**
 * Refuses with `limit_reached` if `moreGb` would exceed the quota. The caller holds the lock of the balance.
 */
export async function requireDiskQuota(
  service: Service,
  tx: Sql,
  wanted: { readonly customerId: string; readonly moreGb: number; readonly field?: string },
): Promise<void> {
  const limit = service.settings.quotas.volumesDiskGb;
  const usedGb = await sumVolumeDisk(tx, wanted.customerId);
  if (usedGb + wanted.moreGb <= limit) return;
  quotaExceeded('volumesDiskGb', limit, { ...wanted, more: `Your volumes use ${usedGb} GiB.` });
}

/**
 * Reserves the volume's disk on the host of its new server, and releases it on the previous one. Null means a
 * dedicated machine with its own disks. Refuses with `unavailable`. The caller holds the volume's lock.
 */
export async function moveDiskReservation(tx: Sql, volume: VolumeRow, hostId: string | null): Promise<void> {
  if (volume.host_id === hostId) return;
  await lockHosts(
    tx,
    [volume.host_id, hostId].filter((id) => id !== null),
  );
  if (hostId !== null && !(await reserveDisk(tx, hostId, volume.size_gb))) {
    fail(
      'unavailable',
      { field: 'server' },
      "The server's host does not have enough disk space for this volume.",
    );
  }
  if (volume.host_id !== null) await reserveDisk(tx, volume.host_id, -volume.disk_gb);
}
