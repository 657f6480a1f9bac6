/** Restore: the disk becomes what it was, or another server's was, when the snapshot was taken. */
import { fail, unknownReference } from '../../kernel/fail.ts';
import { readId } from '../../kernel/ids.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { lockRestorable } from '../../store/reinstalls.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { Within } from '../idempotency.ts';
import { ableOf, installFacts } from './hardware.ts';
import { operateOn } from './operate-on.ts';
import { beginReinstall } from './rebuild.ts';

const FIELD = { field: 'snapshot' } as const;

/** The server takes the snapshot's image. Its `ssh_keys` stay: what is on the disk, the customer put there himself. */
export async function restoreServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  shownSnapshotId: string,
  within?: Within,
): Promise<Server> {
  const asked = { actor, shownId, action: 'restore', within } as const;
  return await operateOn(service, asked, async (tx, server, now) => {
    const facts = await installFacts(tx, server);
    if (!ableOf(service.compute, facts.category).snapshots) {
      fail('unavailable', FIELD, 'This hardware has no snapshots.');
    }
    const snapshotId = readId('snapshot', shownSnapshotId) ?? unknownReference('snapshot');
    const snapshot = await lockRestorable(tx, actor.customerId, snapshotId);
    if (!snapshot) unknownReference('snapshot');
    if (snapshot.status !== 'ready') {
      fail(
        'conflict_state',
        {},
        `The snapshot is ${snapshot.status}; only one that is ready can be restored.`,
      );
    }
    if (snapshot.region_id !== server.region_id) {
      fail('invalid_value', FIELD, 'The snapshot is in another region than the server.');
    }
    if (snapshot.disk_gb > server.disk_gb) {
      fail('invalid_value', FIELD, 'The disk in the snapshot is larger than the disk of the server.');
    }
    const keys = { ids: server.ssh_keys, publicKeys: facts.ssh_public_keys };
    const wanted = { imageId: snapshot.image_id, keys, userDataSealed: null };
    return { ...(await beginReinstall(tx, server, facts, wanted, now)), snapshotId };
  });
}
