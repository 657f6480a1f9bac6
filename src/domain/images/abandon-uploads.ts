import { endAllUploads } from '../../store/images/images.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { Service } from '../context.ts';

/** Ends the uploads that killed processes left behind. Call it only where no other process can be running. */
export async function abandonUploads(service: Service): Promise<void> {
  await service.db.transaction(async (tx) => {
    const subjects = await endAllUploads(tx);
    await enqueueTasks(tx, { kind: 'image_remove', subjects, now: service.clock.now() });
  });
}
