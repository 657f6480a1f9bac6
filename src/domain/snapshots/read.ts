/** Reads a customer's snapshots. */
import { notFound } from '../../kernel/fail.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { formatRfc3339 } from '../../kernel/time.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import {
  findSnapshot,
  pageSnapshots as listRows,
  listServersForSnapshot,
  type SnapshotRow,
} from '../../store/snapshots.ts';
import { shownAction } from '../actions/object.ts';
import type { CustomerActor, Service } from '../context.ts';
import { driverCapabilities } from '../servers/hardware.ts';

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
): Promise<Page<Snapshot>> {
  const { rows, next } = await listRows(service.db, actor.customerId, page, actor.limits?.reach);
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

/** A snapshot as the REST contract shows it. */
export function snapshotObject(row: SnapshotRow): Snapshot {
  return {
    id: formatId('snapshot', row.id),
    object: 'snapshot',
    server: formatId('server', row.server_id),
    region: row.region_id,
    name: row.name,
    size_gb: Number(row.size_gb),
    status: row.status,
    type: row.type,
    labels: row.labels,
    protection: { delete: row.protect_delete },
    expires_at: row.expires_at && formatRfc3339(row.expires_at),
    action: shownAction(row),
    created_at: formatRfc3339(row.created_at),
  };
}
