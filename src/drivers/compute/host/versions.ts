/** Refuses calls that hosts of earlier versions cannot carry out. */
import { ComputeError } from '../../../ports/compute.ts';
import type { HostConnection } from './connection.ts';
import { SHARED_DISKS_VERSION, SNAPSHOT_ORDERS_VERSION } from './wire.ts';

/** An earlier host would run the server from an empty disk of its own. */
export async function requireSharedDisks(
  connection: HostConnection,
  { sharedDisk = false }: { readonly sharedDisk?: boolean },
): Promise<void> {
  if (!sharedDisk || (await connection.version()) >= SHARED_DISKS_VERSION) return;
  const host = connection.name;
  throw new ComputeError('host', `host ${host} knows no shared disks: update Skerry on ${host}`);
}

/** An earlier host would install the image instead. */
export async function requireSnapshotOrders(
  connection: HostConnection,
  { snapshotId }: { readonly snapshotId?: string },
): Promise<void> {
  if (snapshotId === undefined || (await connection.version()) >= SNAPSHOT_ORDERS_VERSION) return;
  const host = connection.name;
  throw new ComputeError(
    'host',
    `host ${host} cannot create servers from snapshots: update Skerry on ${host}`,
  );
}

/** Repeating the call to an older host would not help. */
export async function requireVersion(
  connection: HostConnection,
  version: number,
  what: string,
): Promise<void> {
  if ((await connection.version()) >= version) return;
  const { name: host } = connection;
  throw new ComputeError('refused', `host ${host} cannot ${what}: update Skerry on ${host}`);
}
