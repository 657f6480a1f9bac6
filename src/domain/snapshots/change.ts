/** Creates, changes, and deletes snapshots. */

import { fail, invalidRequest, notFound, refuseProtected, requireQuota } from '../../kernel/fail.ts';
import { formatId, newId, parseId } from '../../kernel/ids.ts';
import { parseDisplayName } from '../../kernel/printable.ts';
import type { Sql } from '../../kernel/sql.ts';
import { parseRfc3339 } from '../../kernel/time.ts';
import type { Snapshot, SnapshotBody, SnapshotPatch } from '../../spec/schemas/snapshot.ts';
import type { ActionRow } from '../../store/actions.ts';
import { lockBalance } from '../../store/ledger/ledger.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import {
  countServerSnapshots,
  countSnapshots,
  deleteSnapshot as deleteRow,
  findSnapshot,
  insertSnapshot,
  isBeingRestored,
  lockSnapshot,
  type NewSnapshot,
  type SnapshotRow,
  updateSnapshot as updateRow,
} from '../../store/snapshots.ts';
import { enqueueTask } from '../../store/tasks.ts';
import { beginAction } from '../actions/begin.ts';
import { type BeganAction, beganAction } from '../actions/object.ts';
import type { Actor, CustomerActor, Service } from '../context.ts';
import { readQuotas } from '../customers/own-limits.ts';
import { recordAudit } from '../record.ts';
import { requireExpiry } from '../rules/expiry.ts';
import { serverCapabilities } from '../servers/hardware.ts';
import { lockServerFor } from '../servers/lock-server.ts';
import { requireInsideNew, requireOperation } from '../tokens/limits/active.ts';
import { snapshotObject } from './read.ts';

/**
 * Starts a snapshot of a running or stopped server. Refuses with `not_found`, `conflict_state`, `unavailable`
 * (hardware without snapshots), `limit_reached`, and with 400 for an invalid name or `expires_at`.
 */
export async function createSnapshot(
  service: Service,
  actor: CustomerActor,
  shownServerId: string,
  body: SnapshotBody,
): Promise<Snapshot> {
  const { name, expiresAt } = readBody(body, service.clock.now());
  const created = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const server = await lockServerFor(tx, actor.customerId, shownServerId, 'snapshot');
    const { labels = {} } = body;
    requireInsideNew(actor.limits, { server: shownServerId, labels, region: server.region_id });
    if (!(await serverCapabilities(service, tx, server)).snapshots) {
      fail('unavailable', { field: '' }, 'Snapshots are not available on the hardware of this server.');
    }
    if (server.never_started)
      fail('conflict_state', {}, 'This server was never started, so its disk is empty. Start it first.');
    await requireSnapshotQuota(service, tx, server);
    const { row, action } = await beginSnapshot(tx, server, {
      actor,
      type: 'manual',
      name,
      labels,
      protect_delete: body.protection?.delete ?? false,
      expires_at: expiresAt,
      now,
    });
    const snapshot = { ...snapshotObject(row), action: beganAction(action) };
    await actor.saveResponse?.(tx, snapshot);
    return snapshot;
  });
  service.wake();
  return created;
}

type SnapshotStart = Pick<NewSnapshot, 'name' | 'type' | 'labels' | 'protect_delete' | 'expires_at'> & {
  readonly actor: Actor;
  readonly now: Date;
};

/** Begins a snapshot of a server that the caller locked and checked. */
export async function beginSnapshot(
  tx: Sql,
  server: ServerRow,
  { actor, now, ...given }: SnapshotStart,
): Promise<{ readonly row: SnapshotRow; readonly action: ActionRow }> {
  const { customer_id: customerId } = server;
  const row = await insertSnapshot(tx, {
    ...given,
    id: newId(now),
    customer_id: customerId,
    server_id: server.id,
    region_id: server.region_id,
    disk_gb: server.disk_gb,
    image_id: server.image_id,
    created_at: now,
  });
  await enqueueTask(tx, { kind: 'snapshot', subject: row.id, now });
  const ids = { customerId, resourceId: row.id, serverId: server.id };
  const action = await beginAction(tx, { ...ids, command: 'snapshot.create', actor, now });
  const resource = formatId('snapshot', row.id);
  await recordAudit(tx, { actor, action: 'snapshot.create', resource, customerId }, now);
  return { row, action };
}

/** The server's lock makes the count per server exact, and the balance's lock the count per customer. */
async function requireSnapshotQuota(
  service: Service,
  tx: Sql,
  { id, customer_id: customerId }: ServerRow,
): Promise<void> {
  const { snapshots, snapshotsPerServer } = await readQuotas(service, tx, customerId);
  const ofServer = await countServerSnapshots(tx, customerId, id);
  requireQuota('snapshotsPerServer', snapshotsPerServer, ofServer);
  await lockBalance(tx, customerId);
  requireQuota('snapshots', snapshots, await countSnapshots(tx, customerId, snapshots));
}

function readBody(body: SnapshotBody, now: Date): { name: string; expiresAt: Date | null } {
  const { expires_at: expires = null } = body;
  return {
    name: body.name === undefined ? generateSnapshotName(now) : requireName(body.name),
    expiresAt: parseExpiry(expires, now),
  };
}

function parseExpiry(text: string | null, now: Date): Date | null {
  return text === null ? null : requireExpiry(text, now);
}

/** A time that stays may have passed, as that of a protected snapshot does. */
function changedExpiry(current: Date | null, text: string | null | undefined, now: Date): Date | null {
  const isSame = text && current && parseRfc3339(text)?.getTime() === current.getTime();
  return text === undefined || isSame ? current : parseExpiry(text, now);
}

function requireName(text: string): string {
  return parseDisplayName(text) ?? invalidRequest([{ field: 'name', issue: 'invalid_format' }]);
}

/** Returns a name such as `snapshot-20260131-120000`, in UTC. */
function generateSnapshotName(now: Date): string {
  const digits = now.toISOString().replaceAll(/\D/g, '');
  return `snapshot-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}

/**
 * Changes the name, expiry, labels, or protection of a snapshot. Refuses with `not_found`, and with 400 for
 * an invalid name or `expires_at`.
 */
export async function patchSnapshot(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  patch: SnapshotPatch,
): Promise<Snapshot> {
  const id = parseId('snapshot', shownId) ?? notFound('snapshot');
  const { name, expires_at: expires, protection } = patch;
  const changed = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const found = (await lockSnapshot(tx, actor.customerId, id)) ?? notFound('snapshot');
    if (found.protect_delete && protection?.delete === false)
      requireOperation(actor.limits, 'snapshots.unprotect');
    await updateRow(tx, {
      id,
      name: name === undefined ? found.name : requireName(name),
      expires_at: changedExpiry(found.expires_at, expires, now),
      labels: patch.labels ?? found.labels,
      protect_delete: protection?.delete ?? found.protect_delete,
    });
    const object = snapshotObject((await findSnapshot(tx, actor.customerId, id)) ?? found);
    // The task knows when the snapshot expires.
    await enqueueTask(tx, { kind: 'snapshot', subject: id, now });
    await recordAudit(tx, { actor, action: 'snapshot.update', resource: object.id }, now);
    return object;
  });
  service.wake();
  return changed;
}

/** Deletes a snapshot that is not being created. Refuses with `not_found`, `conflict_state`, `protected`. */
export async function deleteSnapshot(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<BeganAction> {
  const id = parseId('snapshot', shownId) ?? notFound('snapshot');
  const action = await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    const snapshot = (await lockSnapshot(tx, actor.customerId, id)) ?? notFound('snapshot');
    if (snapshot.status === 'creating') {
      fail('conflict_state', {}, 'The snapshot is being created. Delete it when it is ready.');
    }
    if (snapshot.protect_delete) refuseProtected('delete', 'The snapshot is protected against deletion.');
    if (await isBeingRestored(tx, id)) {
      fail(
        'conflict_state',
        {},
        'A server is being created or restored from this snapshot. Delete it when that is done.',
      );
    }
    await dropSnapshot(tx, snapshot, actor, now);
    const ids = { customerId: actor.customerId, resourceId: id, serverId: snapshot.server_id };
    return await beginAction(tx, { ...ids, command: 'snapshot.delete', actor, now });
  });
  service.wake();
  return { action: beganAction(action) };
}

/** Deletes a snapshot that the caller locked and checked; its task removes the driver's copy. */
export async function dropSnapshot(
  tx: Sql,
  { id, customer_id: customerId }: SnapshotRow,
  actor: Actor,
  now: Date,
): Promise<void> {
  await deleteRow(tx, id);
  await enqueueTask(tx, { kind: 'snapshot', subject: id, now });
  const resource = formatId('snapshot', id);
  await recordAudit(tx, { actor, action: 'snapshot.delete', resource, customerId }, now);
}
