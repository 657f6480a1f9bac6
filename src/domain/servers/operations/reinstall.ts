/** Rebuilds a server from an image, or restores its disk from a snapshot. All data on its disk is lost. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { parseId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { RebuildBody } from '../../../spec/schemas/server-actions.ts';
import { SEALED } from '../../../spec/sealed.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../../spec/states.ts';
import {
  type InstallDetails,
  lockRestorableSnapshot,
  setReinstallState,
} from '../../../store/servers/reinstalls.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { type ChosenKeys, chooseKeys, readUserData } from '../deploy/inputs.ts';
import { driverCapabilities, requireInstallFacts } from '../hardware.ts';
import { chooseImage } from './rebuild-image.ts';
import { type OperationPlan, requestOperation } from './request.ts';
import type { ReinstallPayload } from './step-inputs.ts';

/**
 * Installs it again, from the same image or another. Keeps what the body omits, except user data: earlier
 * user data is not applied again.
 */
export async function rebuildServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  input: RebuildBody,
): Promise<Server> {
  const userData = readUserData(input.user_data_b64);
  const request = { actor, shownId, action: 'rebuild' } as const;
  return await requestOperation(service, request, async (tx, server, now) => {
    const facts = await requireInstallFacts(tx, server);
    const image = await chooseImage(service, tx, server, {
      shownId: input.image,
      category: facts.category,
      now,
    });
    const keys = await resolveKeys(tx, server, facts, input.ssh_keys);
    if (userData && !image.cloud_init) {
      fail(
        'invalid_value',
        { field: 'user_data_b64' },
        'This image has no cloud-init, so it cannot read user data. Leave it out.',
      );
    }
    const userDataSealed = userData && service.keys.seal(SEALED.userData, server.id, userData);
    return await startReinstall(tx, server, facts, { imageId: image.id, keys, userDataSealed }, now);
  });
}

async function resolveKeys(
  tx: Sql,
  server: ServerRow,
  facts: InstallDetails,
  named: readonly string[] | undefined,
): Promise<ChosenKeys> {
  if (named) return await chooseKeys(tx, server.customer_id, named);
  if (server.ssh_keys.length === 0) {
    fail(
      'required',
      { field: 'ssh_keys' },
      'This server has no SSH keys. Name at least one key for the rebuild.',
    );
  }
  return { ids: server.ssh_keys, publicKeys: facts.ssh_public_keys };
}

/**
 * Moves the server to `installing` with its new configuration, and returns the previous one for a rollback.
 */
async function startReinstall(
  tx: Sql,
  server: ServerRow,
  facts: InstallDetails,
  wanted: { readonly imageId: string; readonly keys: ChosenKeys; readonly userDataSealed: string | null },
  now: Date,
): Promise<OperationPlan & { readonly payload: ReinstallPayload }> {
  const { status } = server;
  if (status !== 'running' && status !== 'stopped')
    throw new Error(`cannot reinstall a server that is ${status}`);
  const { to } = findTransition(SERVER_TRANSITIONS, status, 'rebuild');
  await setReinstallState(tx, {
    id: server.id,
    status: to,
    imageId: wanted.imageId,
    sshKeys: wanted.keys.ids,
    sshPublicKeys: wanted.keys.publicKeys,
    userDataSealed: wanted.userDataSealed,
    now,
  });
  const previous = { status, imageId: server.image_id, sshKeys: server.ssh_keys };
  return { step: 'reinstall', payload: { ...previous, sshPublicKeys: facts.ssh_public_keys } };
}

const FIELD = { field: 'snapshot' } as const;

/**
 * Restores a disk from a snapshot of this server or of another one. Adopts the snapshot's image. Keeps
 * `ssh_keys`: the customer controls the keys on the restored disk.
 */
export async function restoreServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  shownSnapshotId: string,
): Promise<Server> {
  const request = { actor, shownId, action: 'restore' } as const;
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
    if (snapshot.shared !== server.shared_disk) {
      fail('invalid_value', FIELD, 'The snapshot is on another kind of storage than the disk of the server.');
    }
    if (snapshot.disk_gb > server.disk_gb) {
      fail('invalid_value', FIELD, 'The disk in the snapshot is larger than the disk of the server.');
    }
    const keys = { ids: server.ssh_keys, publicKeys: facts.ssh_public_keys };
    const wanted = { imageId: snapshot.image_id, keys, userDataSealed: null };
    return { ...(await startReinstall(tx, server, facts, wanted, now)), snapshotId };
  });
}
