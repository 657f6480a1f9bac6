/** What freeze, hold and release have in common: one commit that writes what is wanted and begins to carry it out. */
import { Refusal } from '../../kernel/refusal.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { setSuspendedAnew } from '../../store/billing.ts';
import { findServerLevers, type ServerLevers, setServerLevers } from '../../store/server-levers.ts';
import { lockServer, type ServerRow } from '../../store/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { carryOutFreeze } from './carry-out-freeze.ts';
import { noServer, requireServerId } from './desk.ts';

/** `change` says what is wanted from now on; null, and the answer false, when that is so already. */
export async function pull(
  service: Service,
  shownId: string,
  action: Action,
  change: (levers: ServerLevers, now: Date, server: ServerRow) => ServerLevers | null,
): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? noServer();
    const before = (await findServerLevers(tx, id)) ?? noServer();
    if (server.status === 'destroying') throw new Refusal('the server is being destroyed: it is too late');
    const now = service.clock.now();
    const levers = change(before, now, server);
    if (levers === null) return false;
    await setServerLevers(tx, id, levers);
    const { customer_id: customerId } = server;
    await recordAudit(tx, { actor: systemActor(now), action, resource: shownId, customerId }, now);
    if (before.held_at !== null && levers.held_at === null) await beginGrace(tx, service, server, now);
    await carryOutFreeze(tx, service, id, now);
    return true;
  });
  if (changed) service.wake();
  return changed;
}

/** While it was held nobody was told of an end: whoever is suspended has the whole grace period, and its warnings, now. */
async function beginGrace(tx: Sql, service: Service, server: ServerRow, now: Date): Promise<void> {
  const { id, suspended_reason: reason, paid_until: paidUntil } = server;
  if (reason === null) return;
  const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
  await setSuspendedAnew(tx, { id, reason, destroyAt, now });
}
