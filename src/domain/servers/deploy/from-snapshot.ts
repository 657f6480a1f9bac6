/** Orders from a snapshot: `image` in POST /servers names one. The server shows the image of its source. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { findOrderedSnapshot, type OrderedSnapshotRow } from '../../../store/servers/orders.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { driverCapabilities } from '../hardware.ts';

const FIELD = { field: 'image' } as const;

/** The parts of the order that the snapshot must fit. */
export interface SnapshotNeeds {
  readonly category: 'vps' | 'dedicated';
  readonly disk_gb: number;
  /** Null: undecided. */
  readonly region_id: string | null;
}

/**
 * Returns the snapshot that `image` names; undefined if it names none. Refuses with `unknown_reference`,
 * with `unavailable` for hardware without snapshots, with `mismatch` for another region, a smaller plan, or
 * another kind of storage, and with `not_ready`.
 */
export async function readOrderedSnapshot(
  service: Pick<Service, 'db' | 'compute'>,
  { customerId }: CustomerActor,
  shownId: string | undefined,
  needs: SnapshotNeeds,
): Promise<OrderedSnapshotRow | undefined> {
  const id = parseId('snapshot', shownId ?? '');
  if (id === undefined) return undefined;
  const snapshot = (await findOrderedSnapshot(service.db, customerId, id)) ?? unknownReference('image');
  if (!driverCapabilities(service.compute, needs.category).snapshots)
    fail('unavailable', FIELD, 'Servers of this plan cannot be created from snapshots. Choose an image.');
  if (needs.region_id !== null && needs.region_id !== snapshot.region_id) {
    const message = `The snapshot is in ${snapshot.region_id}. Create the server there, or choose another.`;
    fail('mismatch', FIELD, message);
  }
  if (snapshot.disk_gb > needs.disk_gb) {
    const message = `The snapshot needs a disk of ${snapshot.disk_gb} GiB. Choose a larger plan.`;
    fail('mismatch', FIELD, message);
  }
  if (snapshot.shared !== (needs.category === 'vps' && snapshot.shares_disks))
    fail('mismatch', FIELD, 'The snapshot is on another kind of storage than the disks of new servers.');
  requireReady(snapshot);
  return snapshot;
}

/** Refuses a snapshot that was deleted or lost since it was read. It is not deleted until the commit. */
export async function requireStillThere(tx: Sql, customerId: string, id: string): Promise<void> {
  const snapshot = await findOrderedSnapshot(tx, customerId, id, { isLocked: true });
  requireReady(snapshot ?? unknownReference('image'));
}

function requireReady({ status }: OrderedSnapshotRow): void {
  if (status === 'ready') return;
  const why = status === 'creating' ? 'is still being created. Wait until it is ready.' : 'failed.';
  fail('not_ready', FIELD, `The snapshot ${why}`);
}
