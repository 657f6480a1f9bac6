import type { Sql } from '../../kernel/sql.ts';
import { isDeletedImage } from '../../store/images/images.ts';
import { enqueueTask } from '../../store/tasks.ts';

/**
 * Runs in the transaction in which a server is removed or changes its image. The file of a deleted image is
 * removed with the last server that uses it.
 */
export async function releaseImage(tx: Sql, imageId: string, now: Date): Promise<void> {
  if (await isDeletedImage(tx, imageId))
    await enqueueTask(tx, { kind: 'image_remove', subject: imageId, now });
}
