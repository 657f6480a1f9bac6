/** The common part of freeze, legal hold, and release: one commit that stores the change and applies it. */
import { OperatorError } from '../../kernel/operator-error.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { Action } from '../../spec/actions.ts';
import { restartSuspension } from '../../store/billing/cycles.ts';
import { findServerControls, type ServerControls, setServerControls } from '../../store/servers/operator.ts';
import { lockServer, type ServerRow } from '../../store/servers/servers.ts';
import { graceEnd } from '../billing/grace.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { applyFreeze } from './apply-freeze.ts';
import { requireServerId, throwServerNotFound } from './operator-servers.ts';

/** `decide` returns the new controls, or null if they already apply; the result is false then. */
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
      throw new OperatorError('the server is being destroyed and can no longer be changed');
    const now = service.clock.now();
    const next = decide(previous, now, server);
    if (next === null) return false;
    await setServerControls(tx, id, next);
    const { customer_id: customerId } = server;
    await recordAudit(tx, { actor: systemActor(now), action, resource: shownId, customerId }, now);
    if (previous.held_at !== null && next.held_at === null)
      await restartGracePeriod(tx, service, server, now);
    await applyFreeze(tx, service, id, now);
    return true;
  });
  if (changed) service.wake();
  return changed;
}

/** Restarts the grace period and its warnings: during the hold the customer received no deletion date. */
async function restartGracePeriod(tx: Sql, service: Service, server: ServerRow, now: Date): Promise<void> {
  const { id, suspended_reason: reason, paid_until: paidUntil } = server;
  if (reason === null) return;
  const destroyAt = graceEnd({ suspendedAt: now, paidUntil }, service.settings.graceDays);
  await restartSuspension(tx, { id, reason, destroyAt, now });
}
