import type { Sql } from '../../kernel/sql.ts';
import { isDeletedImage } from '../../store/images.ts';
import { enqueueTask } from '../../store/tasks.ts';

/**
 * Called in the transaction in which a server lets go of its image: it is removed, or has another one. The file of an
 * image that was deleted before goes with the last server.
 */
export async function releaseImage(tx: Sql, imageId: string, now: Date): Promise<void> {
  if (await isDeletedImage(tx, imageId))
    await enqueueTask(tx, { kind: 'image_remove', subject: imageId, now });
}
