/** Freezes a server: powers off its machine and leaves its customer only viewing and destroying it. */
import type { Service } from '../context.ts';
import { requireLine } from '../rules/line.ts';
import { changeControls } from './controls.ts';

/** Returns false if it is already frozen for this reason. `reason` is one line that its customer reads. */
export async function freezeServer(service: Service, shownId: string, reason: string): Promise<boolean> {
  const line = requireLine('reason', reason);
  return await changeControls(service, shownId, 'server.freeze', (controls, now) => {
    if (controls.freeze_reason === line) return null;
    return { ...controls, frozen_at: controls.frozen_at ?? now, freeze_reason: line };
  });
}
