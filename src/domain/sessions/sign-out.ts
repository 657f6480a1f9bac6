import { formatId } from '../../kernel/ids.ts';
import { deleteSession } from '../../store/customers/sessions.ts';
import type { Actor, Service } from '../context.ts';
import { recordAudit } from '../record.ts';

/** Ends the actor's session, if there is one. */
export async function signOut(service: Service, actor: Actor): Promise<void> {
  const { sessionId } = actor;
  if (sessionId === null) return;
  await service.db.transaction(async (tx) => {
    if (!(await deleteSession(tx, sessionId))) return;
    const resource = formatId('session', sessionId);
    await recordAudit(tx, { actor, action: 'customer.sign_out', resource }, service.clock.now());
  });
}
