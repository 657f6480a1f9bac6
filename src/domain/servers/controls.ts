/** What freeze, hold and release have in common: one commit that writes what is wanted and begins to carry it out. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { restartSuspension } from '../../store/billing.ts';
import { findServerControls, type ServerControls, setServerControls } from '../../store/server-controls.ts';
import { lockServer, type ServerRow } from '../../store/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { applyFreeze } from './apply-freeze.ts';
import { requireServerId, throwServerNotFound } from './operator-servers.ts';

/** `change` says what is wanted from now on; null, and the answer false, when that is so already. */
export async function changeControls(
  service: Service,
  shownId: string,
  action: Action,
  decide: (current: ServerControls, now: Date, server: ServerRow) => ServerControls | null,
): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    const previous = (await findServerControls(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed: it is too late');
    const now = service.clock.now();
    const levers = decide(previous, now, server);
    if (levers === null) return false;
    await setServerControls(tx, id, levers);
    const { customer_id: customerId } = server;
    await recordAudit(tx, { actor: systemActor(now), action, resource: shownId, customerId }, now);
    if (previous.held_at !== null && levers.held_at === null)
      await restartGracePeriod(tx, service, server, now);
    await applyFreeze(tx, service, id, now);
    return true;
  });
  if (changed) service.wake();
  return changed;
}

/** While it was held nobody was told of an end: whoever is suspended has the whole grace period, and its warnings, now. */
async function restartGracePeriod(tx: Sql, service: Service, server: ServerRow, now: Date): Promise<void> {
  const { id, suspended_reason: reason, paid_until: paidUntil } = server;
  if (reason === null) return;
  const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
  await restartSuspension(tx, { id, reason, destroyAt, now });
}
