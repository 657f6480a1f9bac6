/** A legal hold: the server and its disk are kept, whoever asks for their end (held.ts). It runs on. */
import { Refusal } from '../../kernel/refusal.ts';
import type { Service } from '../context.ts';
import { requireLine } from '../rules/line.ts';
import { pull } from './levers.ts';

const NOT_YET = 'the server has not run yet, so there is nothing to keep: hold it when its install is done';

/** Holds a server by its shown id; false when this order holds it already. `order` is one line, customers read it. */
export async function holdServer(service: Service, shownId: string, order: string): Promise<boolean> {
  const line = requireLine('order', order);
  return await pull(service, shownId, 'server.hold', (levers, now, server) => {
    // One that cannot be made is removed: there is no disk.
    if (server.first_run_at === null) throw new Refusal(NOT_YET);
    if (levers.hold_order === line) return null;
    return { ...levers, held_at: levers.held_at ?? now, hold_order: line };
  });
}
