/** The task `image_remove`: the file of an image or an upload is gone when nothing needs it. */
import { MINUTE_MS } from '../../kernel/time.ts';
import { endDeadUpload, forgetBlob, isBlobNeeded } from '../../store/images.ts';
import type { Service } from '../context.ts';

/** How often an upload that is under way is looked at. */
const ALIVE_AGAIN_MS = MINUTE_MS;

/**
 * `key` is the id of the image or of the upload. A deleted image that a server still needs is left alone: the task is asked
 * for again when the server lets go of it (release.ts).
 */
export async function removeImageBlob(
  service: Service,
  key: string,
): Promise<'done' | { readonly againMs: number }> {
  if (await endDeadUpload(service.db, key)) return { againMs: ALIVE_AGAIN_MS };
  if (await isBlobNeeded(service.db, key)) return 'done';
  await service.blobs.remove(key);
  await forgetBlob(service.db, key);
  return 'done';
}
