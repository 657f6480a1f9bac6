/** Places a legal hold: the server and its disk are preserved (legal-hold.ts). The server keeps running. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Service } from '../context.ts';
import { requireLine } from '../rules/line.ts';
import { changeControls } from './controls.ts';

const NOT_RUN_YET =
  'the server has not run yet, so there is no disk to preserve: place the hold after its install';

/** Returns false if this order already holds it. `order` names it in one line, which the customer sees. */
export async function placeLegalHold(service: Service, shownId: string, order: string): Promise<boolean> {
  const line = requireLine('order', order);
  return await changeControls(service, shownId, 'server.hold', (controls, now, server) => {
    // A server that cannot be provisioned is removed, and it has no disk.
    if (server.first_run_at === null) throw new OperatorError(NOT_RUN_YET);
    if (controls.hold_order === line) return null;
    return { ...controls, held_at: controls.held_at ?? now, hold_order: line };
  });
}
