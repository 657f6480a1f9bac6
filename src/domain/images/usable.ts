/** Finds the customer's own images that a server can be installed from. */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MachineImage } from '../../ports/compute.ts';
import { findOwnImage, type OwnImageRow } from '../../store/images/images.ts';
import type { Service } from '../context.ts';

/**
 * Returns the customer's own image by its public id; undefined for an unknown, deleted, or foreign one, or a
 * text that is not `custom_…`. `installed` names the server's current image, which may be deleted while its
 * file exists. Locks the row against deletion until the transaction ends.
 */
export async function findUsableImage(
  tx: Sql,
  customerId: string,
  shownId: string,
  { installed }: { readonly installed?: string } = {},
): Promise<OwnImageRow | undefined> {
  const id = parseId('customImage', shownId);
  if (id === undefined) return undefined;
  const row = await findOwnImage(tx, customerId, id);
  return row && (!row.deleted || row.id === installed) ? row : undefined;
}

/**
 * Returns the file of a custom image for the driver; null for an official image, or if the file is removed.
 */
export function isoForImage(
  service: Pick<Service, 'blobs'>,
  image: { readonly blob_key: string | null; readonly sha256: string | null },
): MachineImage['iso'] {
  const { blob_key: key, sha256 } = image;
  return key === null || sha256 === null ? null : { path: service.blobs.path(key), sha256 };
}
