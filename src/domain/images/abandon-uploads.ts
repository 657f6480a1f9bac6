import { endAllUploads } from '../../store/images.ts';
import { enqueueTasks } from '../../store/tasks.ts';
import type { Service } from '../context.ts';

/** Gives up what uploads of killed processes have left: for a process that knows that no other one lives. */
export async function abandonUploads(service: Service): Promise<void> {
  await service.db.transaction(async (tx) => {
    const subjects = await endAllUploads(tx);
    await enqueueTasks(tx, { kind: 'image_remove', subjects, now: service.clock.now() });
  });
}
