/** The task `image_remove`: removes the file of an image or an upload once nothing needs it. */
import { MINUTE_MS } from '../../kernel/time.ts';
import { clearBlobKey, endAbandonedUpload, findBlobUsage } from '../../store/images/images.ts';
import type { Service } from '../context.ts';
import { previousImageId } from '../servers/payload.ts';

/** How often to recheck an upload, or a reinstall that may roll back to the image. */
const RECHECK_MS = MINUTE_MS;

/**
 * `key` is the id of the image or upload. A deleted image that a server still uses is left alone: releasing
 * it schedules the task again (release-image.ts). An image that a rebuild or restore may roll back to is
 * rechecked until that ends.
 */
export async function removeImageBlob(
  service: Service,
  key: string,
): Promise<'done' | { readonly againMs: number }> {
  if (await endAbandonedUpload(service.db, key)) return { againMs: RECHECK_MS };
  const use = await findBlobUsage(service.db, key);
  if (use?.needed) return 'done';
  if (use?.reinstalls.some((sealed) => previousImageId(service, sealed) === key))
    return { againMs: RECHECK_MS };
  await service.blobs.remove(key);
  await clearBlobKey(service.db, key);
  return 'done';
}
