/** Restores a disk from a snapshot of this server or of another one. */
import { fail, unknownReference } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { lockRestorableSnapshot } from '../../store/servers/reinstalls.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { driverCapabilities, requireInstallFacts } from './hardware.ts';
import { startReinstall } from './rebuild.ts';
import { requestOperation } from './request-operation.ts';

const FIELD = { field: 'snapshot' } as const;

/** Adopts the snapshot's image. Keeps `ssh_keys`: the customer controls the keys on the restored disk. */
export async function restoreServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  shownSnapshotId: string,
  beforeCommit?: SaveResponse,
): Promise<Server> {
  const request = { actor, shownId, action: 'restore', beforeCommit } as const;
  return await requestOperation(service, request, async (tx, server, now) => {
    const facts = await requireInstallFacts(tx, server);
    if (!driverCapabilities(service.compute, facts.category).snapshots) {
      fail('unavailable', FIELD, 'Snapshots are not available on the hardware of this server.');
    }
    const snapshotId = parseId('snapshot', shownSnapshotId) ?? unknownReference('snapshot');
    const snapshot = await lockRestorableSnapshot(tx, actor.customerId, snapshotId);
    if (!snapshot) unknownReference('snapshot');
    if (snapshot.status !== 'ready') {
      fail(
        'conflict_state',
        {},
        `The snapshot is ${snapshot.status}. Only a ready snapshot can be restored.`,
      );
    }
    if (snapshot.region_id !== server.region_id) {
      fail('invalid_value', FIELD, 'The snapshot and the server must be in the same region.');
    }
    if (snapshot.disk_gb > server.disk_gb) {
      fail('invalid_value', FIELD, 'The disk in the snapshot is larger than the disk of the server.');
    }
    const keys = { ids: server.ssh_keys, publicKeys: facts.ssh_public_keys };
    const wanted = { imageId: snapshot.image_id, keys, userDataSealed: null };
    return { ...(await startReinstall(tx, server, facts, wanted, now)), snapshotId };
  });
}
