/** Inserts an ISO image into a server, ejects it, and chooses what the server boots first. */
import { fail, unknownReference } from '../../../kernel/fail.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import type { BootOrder } from '../../../spec/boot.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { IsoBody } from '../../../spec/schemas/server-actions.ts';
import { findOfficialImage } from '../../../store/servers/reinstalls.ts';
import type { ServerRow } from '../../../store/servers/servers.ts';
import { startOperation } from '../../actions/operations.ts';
import type { CustomerActor, Service } from '../../context.ts';
import { findUsableImage } from '../../images/installable.ts';
import { readImageId } from '../../images/read.ts';
import { requireDriver, serverCapabilities } from '../hardware.ts';
import { requireReadyFor } from '../lock-server.ts';
import { requestOperation } from '../operations/request.ts';
import { EMPTY_DRIVE, setIso } from './drive.ts';

const IMAGE = { field: 'image' } as const;

/**
 * Replaces what is in the drive. Refuses with `not_found`, `wrong_state`, and `conflict_state`, with
 * `unavailable` hardware that takes no images, with `unknown_reference` an image that the customer does not
 * have, and with `mismatch` an official one.
 */
export async function insertIso(
  service: Service,
  actor: CustomerActor,
  shownId: string,
  body: IsoBody,
): Promise<Server> {
  return await requestOperation(
    service,
    { actor, shownId, action: 'insert_iso' },
    async (tx, server, now) => {
      await requireIsoDrive(tx, service, server);
      const imageId = await findIso(tx, server, body.image);
      await setIso(tx, server, { imageId, boot: server.boot }, now);
      return { step: 'change_iso' };
    },
  );
}

/** Also makes the server boot its disk first. Refuses with `wrong_state` if the drive is empty. */
export async function ejectIso(service: Service, actor: CustomerActor, shownId: string): Promise<Server> {
  return await requestOperation(service, { actor, shownId, action: 'eject_iso' }, async (tx, server, now) => {
    if (server.iso_image_id === null)
      fail('wrong_state', { field: 'iso' }, 'No ISO image is inserted in this server.');
    await setIso(tx, server, EMPTY_DRIVE, now);
    return { step: 'change_iso' };
  });
}

async function requireIsoDrive(tx: Sql, service: Service, server: ServerRow): Promise<void> {
  if ((await serverCapabilities(service, tx, server)).customImages) return;
  fail('unavailable', IMAGE, 'This hardware has no drive for ISO images.');
}

async function findIso(tx: Sql, server: ServerRow, shownId: string): Promise<string> {
  const named = readImageId(shownId);
  if (named?.type === 'official' && (await findOfficialImage(tx, named.id)))
    fail('mismatch', IMAGE, 'Only your own images can be inserted. Their ids begin with custom_.');
  const image = await findUsableImage(tx, server.customer_id, shownId);
  return image?.id ?? unknownReference('image');
}

/**
 * Changes what the server boots first, in the caller's transaction, as part of an update. Refuses with
 * `wrong_state` if it would boot an ISO image that it does not have, and with `conflict_state`. The caller
 * holds the server's lock.
 */
export async function changeBoot(
  tx: Sql,
  service: Service,
  server: ServerRow,
  { boot, actor, now }: { readonly boot: BootOrder; readonly actor: CustomerActor; readonly now: Date },
): Promise<void> {
  await requireReadyFor(tx, server, 'set_boot');
  requireDriver(service, server);
  if (boot === 'iso' && server.iso_image_id === null)
    fail('wrong_state', { field: 'boot' }, 'No ISO image is inserted in this server. Insert one first.');
  // Its first boot installs it. The system of the image would be taken for the installed one.
  if (boot === 'iso' && server.never_started)
    fail('wrong_state', { field: 'boot' }, 'This server was never started. Start it first, from its disk.');
  await setIso(tx, server, { imageId: server.iso_image_id, boot }, now);
  await startOperation(tx, server, { id: newId(now), kind: 'set_boot', step: 'change_iso', actor, now });
}
