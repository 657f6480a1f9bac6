import { notFound } from '../../kernel/fail.ts';
import { parseId } from '../../kernel/ids.ts';
import { deleteOtherSessions, deleteOwnSession } from '../../store/customers/sessions.ts';
import type { CustomerActor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/** Ends all of the customer's sessions except the actor's. */
export async function endOtherSessions(service: Service, actor: CustomerActor): Promise<void> {
  await service.db.transaction(async (tx) => {
    await deleteOtherSessions(tx, actor.customerId, actor.sessionId);
    await recordAudit(tx, { actor, action: 'customer.end_session', resource: null }, service.clock.now());
  });
}

/** Ends one of the customer's sessions; returns true for the actor's own. Fails with `not_found`. */
export async function endSession(service: Service, actor: CustomerActor, shownId: string): Promise<boolean> {
  const id = parseId('session', shownId) ?? notFound('session');
  await service.db.transaction(async (tx) => {
    if (!(await deleteOwnSession(tx, actor.customerId, id))) notFound('session');
    const entry = { actor, action: 'customer.end_session', resource: shownId } as const;
    await recordAudit(tx, entry, service.clock.now());
  });
  return id === actor.sessionId;
}
