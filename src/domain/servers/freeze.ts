/** Freezing a server: its machine is switched off, and its customer can only look at it or destroy it. */
import type { Service } from '../context.ts';
import { requireLine } from '../rules/line.ts';
import { changeControls } from './controls.ts';

/** Freezes a server by its shown id; false when it is frozen for this reason already. `reason` is one line, its customer reads it. */
export async function freezeServer(service: Service, shownId: string, reason: string): Promise<boolean> {
  const line = requireLine('reason', reason);
  return await changeControls(service, shownId, 'server.freeze', (controls, now) => {
    if (controls.freeze_reason === line) return null;
    return { ...controls, frozen_at: controls.frozen_at ?? now, freeze_reason: line };
  });
}
