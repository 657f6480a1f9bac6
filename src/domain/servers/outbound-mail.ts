/**
 * Allows a server to reach other mail servers. Blocked until the operator allows it, to keep spammers away.
 */
import { OperatorError } from '../../kernel/operator-error.ts';
import { lockServer } from '../../store/servers/servers.ts';
import { setMailAllowed } from '../../store/servers/traffic.ts';
import { enqueueTask } from '../../store/tasks.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { hasDriver } from './hardware.ts';
import { requireServerId, throwServerNotFound } from './operator-servers.ts';

/** Takes a public id; returns false if nothing changed. */
export async function setOutboundMail(service: Service, shownId: string, allowed: boolean): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed and can no longer be changed');
    if (!hasDriver(service, server)) {
      throw new OperatorError('the machine was set up by hand: allow or block its mail in your own network');
    }
    if (!(await setMailAllowed(tx, id, allowed))) return false;
    const now = service.clock.now();
    const action = allowed ? 'server.allow_mail' : 'server.block_mail';
    await recordAudit(
      tx,
      { actor: systemActor(now), action, resource: shownId, customerId: server.customer_id },
      now,
    );
    await enqueueTask(tx, { kind: 'traffic', subject: id, now });
    return true;
  });
  if (changed) service.wake();
  return changed;
}
