/** Rebuilds a server: installs it again, from the same image or another. All data on its disk is lost. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { RebuildBody } from '../../spec/schemas/server-actions.ts';
import { findTransition, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { type InstallDetails, setReinstallState } from '../../store/servers/reinstalls.ts';
import type { ServerRow } from '../../store/servers/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { SaveResponse } from '../idempotency.ts';
import { type ChosenKeys, chooseKeys } from './chosen-keys.ts';
import { readUserData } from './fields.ts';
import { requireInstallFacts } from './hardware.ts';
import type { ReinstallPayload } from './payload.ts';
import { chooseImage } from './rebuild-image.ts';
import { type OperationPlan, requestOperation } from './request-operation.ts';

/** Keeps what the body omits, except user data: earlier user data is not applied again. */
export async function rebuildServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  input: RebuildBody,
  beforeCommit?: SaveResponse,
): Promise<Server> {
  const userData = readUserData(input.user_data_b64);
  const request = { actor, shownId, action: 'rebuild', beforeCommit } as const;
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
    const userDataSealed = userData && service.keys.seal('user data', userData);
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
export async function startReinstall(
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
