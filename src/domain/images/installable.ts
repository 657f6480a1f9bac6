/** Decides which images a server can be installed from. */
import { fail } from '../../kernel/fail.ts';
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

type Category = 'vps' | 'dedicated';

/**
 * Whether servers can be installed only from official images whose disk was imported. Hardware that is sold
 * by hand needs no base image: the operator installs it.
 */
export function requiresBaseImage({ compute }: Pick<Service, 'compute'>, category: Category): boolean {
  return compute.images !== null && compute.capabilities[category] !== null;
}

/** Returns why the plan cannot use the image; undefined if it can. */
export function baseImageProblem(
  service: Pick<Service, 'compute'>,
  plan: { readonly category: Category; readonly disk_gb: number },
  image: { readonly base_disk_gb: number | null },
): string | undefined {
  if (!requiresBaseImage(service, plan.category)) return undefined;
  if (image.base_disk_gb === null) return 'This image is not available yet. Choose another image.';
  if (image.base_disk_gb <= plan.disk_gb) return undefined;
  return `This image needs a disk of ${image.base_disk_gb} GiB. Choose a larger plan or another image.`;
}

/** Refuses with `unavailable` an official image that the plan cannot use. */
export function requireBaseImage(...args: Parameters<typeof baseImageProblem>): void {
  const problem = baseImageProblem(...args);
  if (problem !== undefined) fail('unavailable', { field: 'image' }, problem);
}
