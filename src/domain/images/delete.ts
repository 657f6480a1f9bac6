import { fail, notFound } from '../../kernel/fail.ts';
import { softDeleteImage } from '../../store/images/images.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';
import { getImage, readImageId } from './find.ts';

/**
 * Deletes the customer's own image. Servers installed from it keep running, and its file stays until they are
 * deleted. Refuses with `not_found`, and an official image with `conflict_state`.
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
    await enqueueTask(tx, { kind: 'image_remove', subject: image.id, now });
    await recordAudit(tx, { actor, action: 'image.delete', resource: shownId }, now);
  });
  service.wake();
}
