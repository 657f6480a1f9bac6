/** The task `image_remove`: the file of an image or an upload is gone when nothing needs it. */
import { MINUTE_MS } from '../../kernel/time.ts';
import { clearBlobKey, endAbandonedUpload, findBlobUsage } from '../../store/images.ts';
import type { Service } from '../context.ts';
import { previousImageId } from '../servers/payload.ts';

/** How often something that is under way is looked at: an upload, an install that may go back to the image. */
const RECHECK_MS = MINUTE_MS;

/**
 * `key` is the id of the image or of the upload. A deleted image that a server still needs is left alone: the task is asked
 * for again when the server lets go of it (release.ts). One that a rebuild or restore would go back to, should the driver
 * refuse it, is looked at again until that is over, however it ends.
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
