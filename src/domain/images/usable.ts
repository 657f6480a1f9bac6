/** What a server may be installed from, as far as it is the customer's own. */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MachineImage } from '../../ports/compute.ts';
import { findOwnImage, type OwnImageRow } from '../../store/images.ts';
import type { Service } from '../context.ts';

/**
 * The customer's own image by its shown id; undefined for one that is unknown, deleted, another's or no `custom_…` at all.
 * `installed` names the image that the server has: that one may be deleted, as long as its file is there. The row is
 * locked against deletion until the transaction ends.
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

/** The file of an own image for the compute driver; null for an official image, and for one whose file is gone. */
export function isoForImage(
  service: Pick<Service, 'blobs'>,
  image: { readonly blob_key: string | null; readonly sha256: string | null },
): MachineImage['iso'] {
  const { blob_key: key, sha256 } = image;
  return key === null || sha256 === null ? null : { path: service.blobs.path(key), sha256 };
}
