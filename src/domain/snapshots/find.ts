import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import { findSnapshot, pageSnapshots as listRows, listServersForSnapshot } from '../../store/snapshots.ts';
import type { CustomerActor, Service } from '../context.ts';
import { driverCapabilities } from '../servers/hardware.ts';
import { snapshotObject } from './object.ts';

/** Reads a snapshot by its public id. An unknown, malformed, or foreign one is `not_found`. */
export async function getSnapshot(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<Snapshot> {
  const id = parseId('snapshot', shownId) ?? notFound('snapshot');
  return snapshotObject((await findSnapshot(service.db, actor.customerId, id)) ?? notFound('snapshot'));
}

export async function listSnapshots(
  service: Service,
  actor: CustomerActor,
  page: PageRequest,
): Promise<{ items: Snapshot[]; next: PagePosition | null }> {
  const { rows, next } = await listRows(service.db, actor.customerId, page);
  return { items: rows.map(snapshotObject), next };
}

/** Far more than a person would choose from. */
const SERVERS_MAX = 1_000;

/** Ids of servers that the snapshot fits: same region, a large enough disk, hardware with snapshots. */
export async function compatibleServerIds(
  service: Service,
  actor: CustomerActor,
  shownId: string,
): Promise<ReadonlySet<string>> {
  const id = parseId('snapshot', shownId) ?? notFound('snapshot');
  const candidates = await listServersForSnapshot(service.db, actor.customerId, id, SERVERS_MAX);
  const capable = candidates.filter(
    ({ category }) => driverCapabilities(service.compute, category).snapshots,
  );
  return new Set(capable.map((server) => formatId('server', server.id)));
}
