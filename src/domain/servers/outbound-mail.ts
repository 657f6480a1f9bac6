/** Whether a server may reach others' mail servers: closed until the operator opens it, so that nobody deploys to send spam. */
import { OperatorError } from '../../kernel/operator-error.ts';
import { lockServer } from '../../store/servers.ts';
import { enqueueTask } from '../../store/tasks.ts';
import { setMailAllowed } from '../../store/traffic.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';
import { hasDriver } from './hardware.ts';
import { requireServerId, throwServerNotFound } from './operator-servers.ts';

/** By its shown id; false when it is so already. */
export async function setOutboundMail(service: Service, shownId: string, allowed: boolean): Promise<boolean> {
  const id = requireServerId(shownId);
  const changed = await service.db.transaction(async (tx) => {
    const server = (await lockServer(tx, id)) ?? throwServerNotFound();
    if (server.status === 'destroying')
      throw new OperatorError('the server is being destroyed: it is too late');
    if (!hasDriver(service, server)) {
      throw new OperatorError(
        'its machine was set up by hand: what it may send is for your own network to say',
      );
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
