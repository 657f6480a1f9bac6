/**
 * Hosts that do not come back. The operator's word that a host is lost ends every call to it, and the tasks
 * of its servers, volumes, and snapshots settle what was on it. The word that it is fenced, off for good,
 * releases its addresses.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import type { LostServers } from '../../spec/states.ts';
import { setBackendState } from '../../store/inventory/backends.ts';
import { lockHost } from '../../store/inventory/hosts.ts';
import {
  detachCopiedSnapshots,
  fenceHost as fenceRow,
  findHostContents,
  type HostContents,
  type LostData,
  listIntactVolumes,
  listServersOfLostHost,
  lockSnapshotsOfHost,
  markHostLost,
  markSnapshotsLost,
  markVolumesLost,
} from '../../store/inventory/lost-hosts.ts';
import { forgetStorage, listSharedVolumes } from '../../store/inventory/shared-storage.ts';
import { returnSwitchedDisks } from '../../store/servers/disk-moves.ts';
import { cancelMovesOfLostHost } from '../../store/servers/moves.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { Service } from '../context.ts';
import { enqueueMail } from '../mail/enqueue.ts';
import { recordAudit, systemActor } from '../record.ts';

/** Names of each kind that a mail lists. */
const NAMES_MAX = 50;

/** Returns what the host has, for the operator to confirm its loss. */
export async function describeLoss(
  { db, compute }: Pick<Service, 'db' | 'compute'>,
  name: string,
): Promise<HostContents> {
  const host = await lockHost(db, name);
  // Simulated hosts are all without a backend.
  if (host?.backend === null && compute.hosts !== null)
    throw new OperatorError(`host ${name} is this machine: restore a backup on another one instead`);
  return (await findHostContents(db, name)) ?? throwHostNotFound(name);
}

/**
 * Marks the host as lost: it is never called again. Run again, it changes what happens to the servers that
 * are not settled yet.
 */
export async function loseHost(service: Service, name: string, servers: LostServers): Promise<void> {
  const { db, clock } = service;
  await describeLoss(service, name);
  const now = clock.now();
  await db.transaction(async (tx) => {
    const host = (await lockHost(tx, name)) ?? throwHostNotFound(name);
    await markHostLost(tx, { name, servers, now });
    if (host.backend !== null) await setBackendState(tx, host.backend, 'revoked');
    await cancelMovesOfLostHost(tx, host.id);
    await returnSwitchedDisks(tx, host.id);
    const volumes = await markVolumesLost(tx, host.id, now);
    await lockSnapshotsOfHost(tx, host.id);
    // Without a store, no host could fetch them.
    const kept = service.blobs.copies === undefined ? [] : await detachCopiedSnapshots(tx, host.id);
    const snapshots = await markSnapshotsLost(tx, host.id, { now, kept });
    const shared = host.backend === null ? [] : await listSharedVolumes(tx, host.backend);
    if (host.backend !== null) await forgetStorage(tx, host.backend);
    const intact = [...shared, ...(await listIntactVolumes(tx, host.id))];
    const subjects = await listServersOfLostHost(tx, host.id);
    await enqueueTasks(tx, { kind: 'lost_server', subjects, now });
    await enqueueTasks(tx, { kind: 'volume', subjects: [...volumes.map(({ id }) => id), ...intact], now });
    await enqueueTasks(tx, { kind: 'snapshot', subjects: snapshots.map(({ id }) => id), now });
    await mailLostStorage(tx, service, { hostId: host.id, volumes, snapshots, now });
    await recordAudit(tx, { actor: systemActor(now), action: 'host.lose', resource: name }, now);
  });
  service.wake();
}

/** One mail for each customer. */
async function mailLostStorage(
  tx: Sql,
  { keys }: Pick<Service, 'keys'>,
  lost: {
    readonly hostId: string;
    readonly volumes: readonly LostData[];
    readonly snapshots: readonly LostData[];
    readonly now: Date;
  },
): Promise<void> {
  const { now } = lost;
  const volumes = Map.groupBy(lost.volumes, ({ customer_id: id }) => id);
  const snapshots = Map.groupBy(lost.snapshots, ({ customer_id: id }) => id);
  for (const customerId of new Set([...volumes.keys(), ...snapshots.keys()])) {
    const all = [volumes.get(customerId) ?? [], snapshots.get(customerId) ?? []] as const;
    const [volumeNames = [], snapshotNames = []] = all.map((rows) =>
      rows.slice(0, NAMES_MAX).map((row) => row.name),
    );
    const total = all[0].length + all[1].length;
    const data = {
      lostAt: now,
      volumes: volumeNames,
      snapshots: snapshotNames,
      more: total - volumeNames.length - snapshotNames.length,
    };
    const cause = `lost:${lost.hostId}:${now.toISOString()}`;
    await enqueueMail(tx, { customerId, kind: 'storage_lost', cause, data }, now, keys);
  }
}

/**
 * Records that a lost host is off, or disconnected, for good. Its addresses rest for the usual time, and are
 * then available. Returns how many were held.
 */
export async function fenceHost(service: Service, name: string): Promise<bigint> {
  const { db, clock, settings } = service;
  const now = clock.now();
  const count = await db.transaction(async (tx) => {
    const host = (await lockHost(tx, name)) ?? throwHostNotFound(name);
    if (host.lost_at === null)
      throw new OperatorError(`host ${name} is not lost: run skerryd hosts lost ${name} first`);
    const freeFrom = new Date(now.getTime() + settings.addressRestDays * DAY_MS);
    const { released, named } = await fenceRow(tx, host.id, { now, freeFrom });
    // It has run, or never does without DNS.
    await enqueueTasks(tx, { kind: 'rdns', subjects: named, now });
    await recordAudit(tx, { actor: systemActor(now), action: 'host.fence', resource: name }, now);
    return released;
  });
  service.wake();
  return count;
}

function throwHostNotFound(name: string): never {
  throw new OperatorError(`host ${name} not found: see \`skerryd hosts list\``);
}
