import { fail, notFound } from '../../kernel/fail.ts';
import { softDeleteImage } from '../../store/images.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { getImage, readImageId } from './find.ts';

/**
 * Deletes the customer's own image. Servers that were installed from it keep running, and keep its file until they are
 * gone. Refuses with `not_found`, and an official one with `conflict_state`.
 */
export async function deleteImage(service: Service, actor: CustomerActor, shownId: string): Promise<void> {
  const image = readImageId(shownId) ?? notFound('image');
  if (image.type === 'official') {
    await getImage(service, actor, shownId);
    fail(
      'conflict_state',
      {},
      'This is an official image, which nobody can delete; your own begin with custom_.',
    );
  }
  await service.db.transaction(async (tx) => {
    const now = service.clock.now();
    if (!(await softDeleteImage(tx, actor.customerId, image.id, now))) notFound('image');
    await enqueueTask(tx, { kind: 'image_remove', subject: image.id, now });
    await recordAudit(tx, { actor, action: 'image.delete', resource: shownId }, now);
  });
  service.wake();
}
