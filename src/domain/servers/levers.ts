/** What freeze, hold and release have in common: one commit that writes what is wanted and begins to carry it out. */
import { Refusal } from '../../kernel/refusal.ts';
import type { Action } from '../../spec/actions.ts';
import { findServerLevers, type ServerLevers, setServerLevers } from '../../store/server-levers.ts';
import { lockServer } from '../../store/servers.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { carryOutFreeze } from './carry-out-freeze.ts';
import { noServer, requireServerId } from './desk.ts';

/** `change` says what is wanted from now on; null, and the answer false, when that is so already. */
export async function pull(
  service: Service,
  shownId: string,
  action: Action,
  change: (levers: ServerLevers, now: Date) => ServerLevers | null,
): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? noServer();
    const before = (await findServerLevers(tx, id)) ?? noServer();
    if (server.status === 'destroying') throw new Refusal('the server is being destroyed: it is too late');
    const now = service.clock.now();
    const levers = change(before, now);
    if (levers === null) return false;
    await setServerLevers(tx, id, levers);
    const { customer_id: customerId } = server;
    await recordAudit(tx, { actor: systemActor(now), action, resource: shownId, customerId }, now);
    await carryOutFreeze(tx, service, id, now);
    return true;
  });
  if (changed) service.wake();
  return changed;
}
