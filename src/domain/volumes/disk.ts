/**
 * The resources of an attachment: disk of the customer's quota and of the host, and a device of the server.
 */

import { fail, quotaExceeded } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { isDiskMoving } from '../../store/servers/disk-moves.ts';
import { lockHosts, reserveDisk, sumVolumeDisk, type VolumeRow } from '../../store/volumes/volumes.ts';
import type { Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';

/**
 * Refuses with `limit_reached` if `moreGb` would exceed the quota. The caller holds the lock of the balance.
 */
export async function requireDiskQuota(
  service: Service,
  tx: Sql,
  wanted: { readonly customerId: string; readonly moreGb: number; readonly field?: string },
): Promise<void> {
  const { volumesDiskGb: limit } = await readQuotas(service, tx, wanted.customerId);
  const usedGb = await sumVolumeDisk(tx, wanted.customerId);
  if (usedGb + wanted.moreGb <= limit) return;
  quotaExceeded('volumesDiskGb', limit, {
    ...(wanted.field && { field: wanted.field }),
    used: usedGb,
    more: `Your volumes use ${usedGb} GiB.`,
  });
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

/** Refuses with `conflict_state` a change of a volume that is on its way to another host. */
export async function requireNotMoving(tx: Sql, volumeId: string): Promise<void> {
  if (await isDiskMoving(tx, volumeId))
    fail('conflict_state', {}, 'The volume is moving to another host. Try again when that is done.');
}

export function throwVolumeLost(): never {
  fail('conflict_state', {}, 'The data of this volume was lost with its machine. Delete the volume.');
}

/** Returns the letters of a device after the server's own disk: b … z, aa, ab … */
function deviceLetters(n: number): string {
  const last = String.fromCharCode(97 + (n % 26));
  return n < 26 ? last : deviceLetters(Math.floor(n / 26) - 1) + last;
}

/** Returns the first free path from /dev/vdb on: /dev/vda is the server's own disk. */
export function firstFreeDevice(taken: ReadonlySet<string>): string {
  for (let n = 1; ; n++) {
    const device = `/dev/vd${deviceLetters(n)}`;
    if (!taken.has(device)) return device;
  }
}
