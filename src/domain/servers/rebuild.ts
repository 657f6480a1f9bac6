/** Rebuild: the machine is installed anew, from the same image or another; what was on its disk is gone. */
import { fail } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { RebuildBody } from '../../spec/schemas/server-actions.ts';
import { move, SERVER_TRANSITIONS } from '../../spec/states.ts';
import { type InstallFacts, setInstalling } from '../../store/reinstalls.ts';
import type { ServerRow } from '../../store/servers.ts';
import type { CustomerActor, Service } from '../context.ts';
import type { Within } from '../idempotency.ts';
import { type ChosenKeys, chooseKeys } from './chosen-keys.ts';
import { readUserData } from './fields.ts';
import { installFacts } from './hardware.ts';
import { operateOn, type Plan } from './operate-on.ts';
import type { ReinstallPayload } from './payload.ts';
import { chooseImage } from './rebuild-image.ts';

/** What is left out stays as it is; user data that was given before is not applied again. */
export async function rebuildServer(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  input: RebuildBody,
  within?: Within,
): Promise<Server> {
  const userData = readUserData(input.user_data_b64);
  const asked = { actor, shownId, action: 'rebuild', within } as const;
  return await operateOn(service, asked, async (tx, server, now) => {
    const facts = await installFacts(tx, server);
    const image = await chooseImage(service, tx, server, {
      shownId: input.image,
      category: facts.category,
      now,
    });
    const keys = await keysFor(tx, server, facts, input.ssh_keys);
    if (userData && !image.cloud_init) {
      fail(
        'invalid_value',
        { field: 'user_data_b64' },
        'This image has no cloud-init, which alone reads user data; leave it out.',
      );
    }
    const userDataSealed = userData && service.keys.seal('user data', userData);
    return await beginReinstall(tx, server, facts, { imageId: image.id, keys, userDataSealed }, now);
  });
}

async function keysFor(
  tx: Sql,
  server: ServerRow,
  facts: InstallFacts,
  named: readonly string[] | undefined,
): Promise<ChosenKeys> {
  if (named) return await chooseKeys(tx, server.customer_id, named);
  if (server.ssh_keys.length === 0) {
    fail(
      'required',
      { field: 'ssh_keys' },
      'This server has no SSH keys: name at least one for the rebuild.',
    );
  }
  return { ids: server.ssh_keys, publicKeys: facts.ssh_public_keys };
}

/** Makes the server `installing` with what it is to become, and keeps what it was. */
export async function beginReinstall(
  tx: Sql,
  server: ServerRow,
  facts: InstallFacts,
  wanted: { readonly imageId: string; readonly keys: ChosenKeys; readonly userDataSealed: string | null },
  now: Date,
): Promise<Plan & { readonly payload: ReinstallPayload }> {
  const { status } = server;
  if (status !== 'running' && status !== 'stopped') throw new Error(`a ${status} server is installed anew`);
  const { to } = move(SERVER_TRANSITIONS, status, 'rebuild');
  await setInstalling(tx, {
    id: server.id,
    status: to,
    imageId: wanted.imageId,
    sshKeys: wanted.keys.ids,
    sshPublicKeys: wanted.keys.publicKeys,
    userDataSealed: wanted.userDataSealed,
    now,
  });
  const former = { status, imageId: server.image_id, sshKeys: server.ssh_keys };
  return { step: 'reinstall', payload: { ...former, sshPublicKeys: facts.ssh_public_keys } };
}
