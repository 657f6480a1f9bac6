/**
 * Attaches and detaches volumes. The response states the customer's intent, which commits together with the
 * task that ensures it; the event follows when the driver confirms. Until then the change stays in a list
 * (store/volumes/changes.ts). If a customer makes several changes before the driver confirms, each one is
 * announced in order, although the driver ensures only the last state, passing through detached.
 */
import { fail, notFound, unknownReference } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { AttachBody, Volume } from '../../spec/schemas/volume.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import { findOwnServer, lockOwnServer, type ServerRow } from '../../store/servers/servers.ts';
import { enqueueTask, enqueueTasks } from '../../store/tasks.ts';
import {
  attachVolume as attachRow,
  detachVolume as detachRow,
  listAttachedTo,
  listUsedDevices,
  lockVolumesOf,
} from '../../store/volumes/changes.ts';
import { findVolume, isDataElsewhere, lockVolume, type VolumeRow } from '../../store/volumes/volumes.ts';
import { beginAction } from '../actions/begin.ts';
import { beganAction } from '../actions/object.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { serverCapabilities } from '../servers/hardware.ts';
import { lockServerFor, requireActionAllowed } from '../servers/lock-server.ts';
import {
  firstFreeDevice,
  moveDiskReservation,
  requireDiskQuota,
  requireNotMoving,
  throwVolumeLost,
} from './disk.ts';
import { volumeObject } from './read.ts';

/**
 * Attaches a detached volume to a running or stopped server in its region. The first attachment reserves its
 * disk. Refuses with `not_found`, `conflict_state`, `unknown_reference` (server), `invalid_value` (another
 * region), `unavailable` (no disk space there, data on another host, or a server that takes no volumes or no
 * more), and `limit_reached`.
 */
export async function attachVolume(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: AttachBody,
): Promise<Volume> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  const attached = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    requireDetached(await findVolume(tx, customerId, id));
    const server = await lockNamedServer(tx, customerId, body.server);
    await lockBalance(tx, customerId);
    const volume = requireDetached(await lockVolume(tx, customerId, id));
    if (volume.lost_at !== null) throwVolumeLost();
    await requireNotMoving(tx, id);
    const maxVolumes = await requireCompatible(service, tx, volume, server);
    if (volume.disk_gb === 0) {
      await requireDiskQuota(service, tx, { customerId, moreGb: volume.size_gb });
    }
    await requireWithinReach(tx, volume, server);
    // A shared volume uses no host's disk.
    const hostId = volume.shared ? null : server.host_id;
    await moveDiskReservation(tx, volume, hostId);
    const taken = await listUsedDevices(tx, server.id, id);
    if (maxVolumes !== null && taken.size >= maxVolumes) await throwTooManyVolumes(tx, server, maxVolumes);
    const device = firstFreeDevice(taken);
    const row = await attachRow(tx, { id, serverId: server.id, device, hostId });
    const ids = { customerId, resourceId: id, serverId: server.id };
    const action = await beginAction(tx, { ...ids, command: 'volume.attach', actor, now });
    const object = { ...volumeObject(row), action: beganAction(action) };
    await enqueueTask(tx, { kind: 'volume', subject: id, now });
    await recordAudit(tx, { actor, action: 'volume.attach', resource: object.id }, now);
    await actor.saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return attached;
}

/**
 * Detaches an attached volume. Refuses with `not_found`, and with `conflict_state` if it is already detached
 * or the operator froze its server.
 */
export async function detachVolume(service: Service, actor: CustomerActor, shownId: string): Promise<Volume> {
  const id = parseId('volume', shownId) ?? notFound('volume');
  const detached = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const { customerId } = actor;
    const volume = (await lockVolume(tx, customerId, id)) ?? notFound('volume');
    if (volume.server_id === null) fail('conflict_state', {}, 'The volume is not attached to a server.');
    // Read the server without a lock, because locks go server first, volume second. A concurrent freeze
    // takes effect after this detachment.
    const server = await findOwnServer(tx, customerId, volume.server_id);
    if (server) requireActionAllowed(server, 'detach');
    const ids = { customerId, resourceId: id, serverId: volume.server_id };
    const action = await beginAction(tx, { ...ids, command: 'volume.detach', actor, now });
    const object = { ...volumeObject(await detachRow(tx, id)), action: beganAction(action) };
    await enqueueTask(tx, { kind: 'volume', subject: id, now });
    await recordAudit(tx, { actor, action: 'volume.detach', resource: object.id }, now);
    await actor.saveResponse?.(tx, object);
    return object;
  });
  service.wake();
  return detached;
}

function requireDetached(volume: VolumeRow | undefined): VolumeRow {
  if (!volume) notFound('volume');
  if (volume.server_id !== null) {
    fail('conflict_state', {}, 'The volume is already attached. Detach it first.');
  }
  return volume;
}

/** Locks the server that the body names. An unknown server is the fault of the body, not of the path. */
async function lockNamedServer(tx: Sql, customerId: string, shownId: string): Promise<ServerRow> {
  const id = parseId('server', shownId);
  if (!id || !(await lockOwnServer(tx, customerId, id))) unknownReference('server');
  return await lockServerFor(tx, customerId, shownId, 'attach');
}

async function throwTooManyVolumes(tx: Sql, { id }: ServerRow, maxVolumes: number): Promise<never> {
  if ((await listAttachedTo(tx, [id])).length < maxVolumes) {
    fail('conflict_state', {}, 'A detached volume has not left the server yet. Try again in a moment.');
  }
  fail('unavailable', { field: 'server' }, `The server can have at most ${maxVolumes} volumes.`);
}

/** Returns how many volumes the server can have; null means any number. */
async function requireCompatible(
  service: Service,
  tx: Sql,
  volume: VolumeRow,
  server: ServerRow,
): Promise<number | null> {
  if (volume.region_id !== server.region_id) {
    fail(
      'invalid_value',
      { field: 'server' },
      `The volume is in ${volume.region_id}, but the server is in ${server.region_id}. ` +
        'Both must be in the same region.',
    );
  }
  const { volumes } = await serverCapabilities(service, tx, server);
  if (volumes === 0)
    fail('unavailable', { field: 'server' }, 'Volumes are not available on the hardware of this server.');
  return volumes;
}

/** Refuses a volume whose content is on another host. The driver refuses it if that is not known yet. */
async function requireWithinReach(tx: Sql, volume: VolumeRow, server: ServerRow): Promise<void> {
  if (volume.shared || !(await isDataElsewhere(tx, volume.id, server.host_id))) return;
  fail(
    'unavailable',
    { field: 'server' },
    'The data of this volume is on another host than the server. ' +
      'Attach it to a server that had it before, or create a server with it.',
  );
}

/**
 * Detaches the volumes of a server that is being destroyed, in the transaction that starts the removal. The
 * caller holds the server's lock. Their events follow when the driver confirms.
 */
export async function detachServerVolumes(tx: Sql, serverId: string, now: Date): Promise<void> {
  const volumes = await lockVolumesOf(tx, serverId);
  for (const { id } of volumes) await detachRow(tx, id);
  await enqueueTasks(tx, { kind: 'volume', subjects: volumes.map(({ id }) => id), now });
}

/**
 * Schedules the tasks of the volumes of servers that were just powered on: a driver may start a machine
 * without a volume that it cannot attach at that moment. Returns whether there are any.
 */
export async function recheckAttachedVolumes(
  tx: Sql,
  serverIds: readonly string[],
  now: Date,
): Promise<boolean> {
  const subjects = await listAttachedTo(tx, serverIds);
  if (subjects.length === 0) return false;
  await enqueueTasks(tx, { kind: 'volume', subjects, now });
  return true;
}
