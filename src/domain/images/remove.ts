/** Deletes images, and removes the files of images and uploads once nothing needs them. */
import { fail, notFound } from '../../kernel/fail.ts';
import type { Sql } from '../../kernel/sql.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import {
  clearBlobKey,
  endAbandonedUpload,
  endAllUploads,
  findBlobUsage,
  isDeletedImage,
  softDeleteImage,
} from '../../store/images/images.ts';
import { releaseAllClaims } from '../../store/images/part-uploads.ts';
import { isInsertedImage } from '../../store/servers/isos.ts';
import { enqueueTask, enqueueTasks, type TaskResult } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { previousImageId } from '../servers/operations/step-inputs.ts';
import { getImage, readImageId } from './read.ts';

/** How often to recheck an upload, or a reinstall that may roll back to the image. */
const RECHECK_MS = MINUTE_MS;

/**
 * Deletes the customer's own image. Servers installed from it keep running, and its file stays until they are
 * deleted. Refuses with `not_found`, an official image with `conflict_state`, and with `still_in_use`
 * an image in the drive of a server.
 */
export async function deleteImage(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const image = readImageId(shownId) ?? notFound('image');
  if (image.type === 'official') {
    await getImage(service, actor, shownId);
    fail(
      'conflict_state',
      {},
      'Official images cannot be deleted. The ids of your own images begin with custom_.',
    );
  }
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await softDeleteImage(tx, actor.customerId, image.id, now))) notFound('image');
    // Only now: an insertion under way has committed before.
    if (await isInsertedImage(tx, image.id))
      fail('still_in_use', { field: '' }, 'A server has this image in its drive. Eject it first.');
    await enqueueTask(tx, { kind: 'image_remove', subject: image.id, now });
    await recordAudit(tx, { actor, action: 'image.delete', resource: shownId }, now);
  });
  service.wake();
}

/**
 * Runs in the transaction in which a server is removed or changes its image. The file of a deleted image is
 * removed with the last server that uses it.
 */
export async function releaseImage(tx: Sql, imageId: string, now: Date): Promise<void> {
  if (await isDeletedImage(tx, imageId))
    await enqueueTask(tx, { kind: 'image_remove', subject: imageId, now });
}

/**
 * Task `image_remove`. `key` is the id of the image or upload. A deleted image that a server still uses is
 * left alone: releasing it schedules the task again (`releaseImage`). An image that a rebuild or restore may
 * roll back to is rechecked until that ends.
 */
export async function removeImageBlob(service: Service, key: string): Promise<TaskResult> {
  const now = service.clock.now();
  const upload = await endAbandonedUpload(service.db, key, now);
  if (upload) return { againMs: Math.max((upload.expires_at?.getTime() ?? 0) - now.getTime(), RECHECK_MS) };
  const use = await findBlobUsage(service.db, key);
  if (use?.needed) return 'done';
  if (use?.reinstalls.some((payload) => previousImageId(service, payload) === key))
    return { againMs: RECHECK_MS };
  await service.blobs.remove(key);
  await clearBlobKey(service.db, key);
  return 'done';
}

/**
 * Ends the uploads that killed processes left behind; those in parts can resume. Call it only where no other
 * process can be running.
 */
export async function abandonUploads(service: Service): Promise<void> {
  await service.db.transaction(async (tx) => {
    await releaseAllClaims(tx);
    const subjects = await endAllUploads(tx);
    await enqueueTasks(tx, { kind: 'image_remove', subjects, now: service.clock.now() });
  });
}
