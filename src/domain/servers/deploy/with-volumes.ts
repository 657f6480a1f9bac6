/** Volumes of an order: `volumes` in POST /servers. Its commit attaches them; they are plugged in later. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { formatId, parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { isDiskMoving, mayHaveContent, moveEmptyVolume } from '../../../store/servers/disk-moves.ts';
import { findServer } from '../../../store/servers/servers.ts';
import { enqueueTasks } from '../../../store/tasks.ts';
import { attachVolume, lockVolumesOf } from '../../../store/volumes/changes.ts';
import {
  findBackendOfVolume,
  findVolume,
  lockVolume,
  reserveDisk,
  type VolumeRow,
} from '../../../store/volumes/volumes.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { recordAudit } from '../../record.ts';
import { firstFreeDevice, moveDiskReservation, requireDiskQuota } from '../../volumes/disk.ts';
import { driverCapabilities } from '../hardware.ts';

export interface OrderedVolumes {
  /** In the order of their devices. */
  readonly ids: readonly string[];
  /** The backend that has the data of one; null: none, or the driver attaches on any of its hosts. */
  readonly backend: string | null;
}

/** The parts of the order that the volumes must fit. */
export interface VolumeNeeds {
  readonly category: 'vps' | 'dedicated';
  /** Null: undecided. */
  readonly region_id: string | null;
}

/**
 * Resolves the volumes of an order. Refuses with `unknown_reference`, `in_use`, `mismatch` for another region
 * or data on different hosts, `not_ready` for a lost one, `limit_reached`, and `unavailable` for hardware
 * that takes none, or no more.
 */
export async function readOrderedVolumes(
  service: Service,
  actor: CustomerActor,
  shownIds: readonly string[],
  needs: VolumeNeeds,
): Promise<OrderedVolumes> {
  if (shownIds.length === 0) return { ids: [], backend: null };
  requireTaken(service, needs.category, new Set(shownIds).size);
  const ids: string[] = [];
  let backend: string | null = null;
  let newGb = 0;
  for (const [index, shown] of shownIds.entries()) {
    const field = `volumes.${index}` as const;
    const id = parseId('volume', shown) ?? unknownReference(field);
    if (ids.includes(id)) continue;
    const volume = (await findVolume(service.db, actor.customerId, id)) ?? unknownReference(field);
    await requireFree(service.db, volume, { field, regionId: needs.region_id });
    const own = await findBackend(service, volume);
    if (backend !== null && own !== null && own !== backend) {
      fail('mismatch', { field }, 'The volumes are on different hosts. Attach this one to another server.');
    }
    backend ??= own;
    if (volume.disk_gb === 0) newGb += volume.size_gb;
    ids.push(id);
  }
  const { customerId } = actor;
  if (newGb > 0) await requireDiskQuota(service, service.db, { customerId, moreGb: newGb, field: 'volumes' });
  return { ids, backend };
}

function requireTaken(
  { compute }: Pick<Service, 'compute'>,
  category: VolumeNeeds['category'],
  count: number,
): void {
  const { volumes: max } = driverCapabilities(compute, category);
  if (max === 0) fail('unavailable', { field: 'volumes' }, 'Volumes are not available for this plan.');
  if (max !== null && count > max)
    fail('unavailable', { field: 'volumes' }, `A server of this plan can have at most ${max} volumes.`);
}

async function requireFree(
  tx: Sql,
  volume: VolumeRow,
  { field, regionId }: { readonly field: string; readonly regionId: string | null },
): Promise<void> {
  if (regionId !== null && volume.region_id !== regionId)
    fail('mismatch', { field }, `The volume is in ${volume.region_id}. Create the server there.`);
  if (volume.server_id !== null)
    fail('in_use', { field }, 'The volume is attached to a server. Detach it first.');
  if (volume.lost_at !== null)
    fail('not_ready', { field }, 'The data of this volume was lost with its machine. Delete the volume.');
  if (await isDiskMoving(tx, volume.id))
    fail('in_use', { field }, 'The volume is moving to another host. Try again when that is done.');
}

/** Returns the backend that has its data; null: it has none yet, or the driver attaches it on any host. */
async function findBackend(
  { db, compute }: Pick<Service, 'db' | 'compute'>,
  { id, shared }: VolumeRow,
): Promise<string | null> {
  return shared || compute.hosts === null ? null : await findBackendOfVolume(db, id);
}

/**
 * Attaches the volumes to a server that the transaction has just created; the deploy found a host that fits
 * them. Refuses what has changed since `readOrderedVolumes`. Their events follow when the driver confirms.
 */
export async function attachToNewServer(
  tx: Sql,
  service: Service,
  actor: CustomerActor,
  { id: serverId, now }: { readonly id: string; readonly now: Date },
  { ids }: OrderedVolumes,
): Promise<void> {
  const { customerId } = actor;
  const server = await findServer(tx, serverId);
  if (!server) throw new Error('the server was not created');
  const locked = new Map<string, VolumeRow>();
  // In the order of their ids, so that two orders never wait for each other.
  for (const id of ids.toSorted()) {
    const field = `volumes.${ids.indexOf(id)}` as const;
    const volume = (await lockVolume(tx, customerId, id)) ?? unknownReference(field);
    await requireFree(tx, volume, { field, regionId: server.region_id });
    locked.set(id, volume);
  }
  const taken = new Set<string>();
  for (const volume of ids.flatMap((id) => locked.get(id) ?? [])) {
    const { id, shared, size_gb: moreGb } = volume;
    if (volume.disk_gb === 0) await requireDiskQuota(service, tx, { customerId, moreGb, field: 'volumes' });
    const hostId = shared ? null : server.host_id;
    await moveDiskReservation(tx, volume, hostId);
    const device = firstFreeDevice(taken);
    taken.add(device);
    await attachVolume(tx, { id, serverId, device, hostId });
    await recordAudit(tx, { actor, action: 'volume.attach', resource: formatId('volume', id) }, now);
  }
  await enqueueTasks(tx, { kind: 'volume', subjects: ids, now });
}

/**
 * Moves the disks of the ordered volumes with a server that was placed on another host before its first run.
 * Returns false if one cannot follow: its data is on the previous host, or the new one has no room for it.
 */
export async function letVolumesFollow(tx: Sql, { compute }: Service, serverId: string): Promise<boolean> {
  const hostId = (await findServer(tx, serverId))?.host_id ?? null;
  for (const { id, shared, host_id: from, size_gb: sizeGb } of await lockVolumesOf(tx, serverId)) {
    if (shared || from === hostId) continue;
    if (hostId === null || (compute.hosts !== null && (await mayHaveContent(tx, id)))) return false;
    if (!(await reserveDisk(tx, hostId, sizeGb))) return false;
    await moveEmptyVolume(tx, id, hostId);
  }
  return true;
}
