/** A legal hold: the server and its disk are kept, whoever asks for their end (held.ts). It runs on. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Service } from '../context.ts';
import { requireLine } from '../rules/line.ts';
import { changeControls } from './controls.ts';

const NOT_RUN_YET =
  'the server has not run yet, so there is nothing to keep: hold it when its install is done';

/** Holds a server by its shown id; false when this order holds it already. `order` is one line, customers read it. */
export async function placeLegalHold(service: Service, shownId: string, order: string): Promise<boolean> {
  const line = requireLine('order', order);
  return await changeControls(service, shownId, 'server.hold', (controls, now, server) => {
    // One that cannot be made is removed: there is no disk.
    if (server.first_run_at === null) throw new OperatorError(NOT_RUN_YET);
    if (controls.hold_order === line) return null;
    return { ...controls, held_at: controls.held_at ?? now, hold_order: line };
  });
}
