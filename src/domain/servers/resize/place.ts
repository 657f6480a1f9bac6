/** Where a server has its new size: on its host, or on another one of its region, to which it then moves. */
import { fail } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { findMove, hasUnsettledVolumes, queueMove, startMove } from '../../../store/servers/moves.ts';
import {
  findResizeTarget,
  fitsOnOwnHost,
  type Growth,
  reserveOnHost,
  setReservedSize,
} from '../../../store/servers/resizes.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { listVolumesOf, lockVolumesOf } from '../../../store/volumes/changes.ts';
import type { VolumeRow } from '../../../store/volumes/volumes.ts';
import type { Service } from '../../context.ts';
import { outOfStock } from './checks.ts';

/**
 * Refuses like `reserveRoom`, and with `wrong_state` a server that would have to move with an ISO image,
 * without locking or reserving anything.
 */
export async function requireRoom(
  tx: Sql,
  service: Service,
  server: ServerRow,
  growth: Growth,
): Promise<void> {
  if (await fitsOnOwnHost(tx, server.id, { ...growth, locks: false })) return;
  requireMayMove(service, server);
  const { id } = server;
  const ramMb = server.ram_mb + growth.ramMb;
  const diskGb = ownDiskGb(server) + growth.diskGb + ownVolumesGb(await listVolumesOf(tx, id));
  const needs = { ...targetNeeds(service, growth), ramMb, diskGb, locks: false };
  if (!(await findResizeTarget(tx, id, needs))) outOfStock();
  const move = await findMove(tx, id);
  if ((move && move.state !== 'queued') || (await hasUnsettledVolumes(tx, id))) refuseBusy();
}

/**
 * Reserves the room, and starts the move if another host has it. Refuses with `out_of_stock`, and with
 * `conflict_state` while the server cannot move. The caller holds the locks of the server and the balance.
 */
export async function reserveRoom(
  tx: Sql,
  service: Service,
  server: ServerRow,
  { growth, now }: { readonly growth: Growth; readonly now: Date },
): Promise<void> {
  const { id } = server;
  const ramMb = server.ram_mb + growth.ramMb;
  if (await fitsOnOwnHost(tx, id, { ...growth, locks: true })) {
    const diskGb = server.disk_gb + growth.diskGb;
    return await setReservedSize(tx, { id, ramMb, diskGb });
  }
  requireMayMove(service, server);
  const volumes = await lockVolumesOf(tx, id);
  const diskGb = ownDiskGb(server) + growth.diskGb + ownVolumesGb(volumes);
  const needs = { ...targetNeeds(service, growth), ramMb, diskGb, locks: true };
  const toHost = (await findResizeTarget(tx, id, needs)) ?? outOfStock();
  await requireMovable(tx, id, now);
  await reserveOnHost(tx, toHost, { ramMb, diskGb });
  await startMove(tx, {
    serverId: id,
    id: newId(now),
    keyId: service.keys.newestId,
    toHost,
    ramMb,
    diskGb,
    volumeIds: volumes.map((volume) => volume.id),
    growDiskGb: growth.diskGb,
    now,
  });
}

function requireMayMove({ compute }: Service, server: ServerRow): void {
  if (compute.moves === null || server.never_started) outOfStock();
  if (server.iso_image_id === null) return;
  const message = 'The server has to move to another host for this plan. Eject its ISO image first.';
  fail('wrong_state', { field: 'iso' }, message);
}

function ownDiskGb(server: ServerRow): number {
  return server.shared_disk ? 0 : server.disk_gb;
}

function ownVolumesGb(volumes: readonly VolumeRow[]): number {
  return volumes.reduce((sum, volume) => sum + (volume.shared ? 0 : volume.disk_gb), 0);
}

function targetNeeds({ compute }: Service, { hostTags }: Growth) {
  return { hostTags, otherBackend: compute.hosts !== null };
}

/** Takes over a move that is queued. */
async function requireMovable(tx: Sql, serverId: string, now: Date): Promise<void> {
  await queueMove(tx, { id: newId(now), serverId, wantedHost: null, now });
  const isQueued = (await findMove(tx, serverId))?.state === 'queued';
  if (!isQueued || (await hasUnsettledVolumes(tx, serverId))) refuseBusy();
}

function refuseBusy(): never {
  fail('conflict_state', {}, 'The server has to move to another host, but is busy. Try again in a minute.');
}
