/** Task `lost_server`: settles a server whose host is lost, in one transaction. */
import { formatId } from '../../../kernel/ids.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { MINUTE_MS } from '../../../kernel/time.ts';
import { findLossOfServer, type HostLoss } from '../../../store/inventory/lost-hosts.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import type { TaskResult } from '../../../store/tasks.ts';
import type { Service } from '../../context.ts';
import { enqueueMail } from '../../mail/enqueue.ts';
import { refundUnusedTime } from '../billing/charge.ts';
import { startRemoval } from '../operations/destroy.ts';
import { auditServer, recordServerEvent } from '../transition.ts';

/** Until a legal hold is checked again. */
const HELD_WAIT_MS = 10 * MINUTE_MS;

export async function settleLostServer(service: Service, serverId: string): Promise<TaskResult> {
  const result = await service.db.transaction(async (tx): Promise<TaskResult> => {
    const server = await lockServer(tx, serverId);
    const loss = server && (await findLossOfServer(tx, serverId));
    // A removal under way ends without the host.
    if (!loss || server.status === 'destroying') return 'done';
    if (server.held_at !== null) return { againMs: HELD_WAIT_MS };
    await refundAndRemove(tx, service, server, loss);
    return 'done';
  });
  if (result === 'done') service.log.info({ server: formatId('server', serverId) }, 'lost server settled');
  service.wake();
  return result;
}

async function refundAndRemove(tx: Sql, service: Service, server: ServerRow, loss: HostLoss): Promise<void> {
  const now = service.clock.now();
  const { customer_id: customerId } = server;
  await lockBalance(tx, customerId);
  await auditServer(tx, server, 'server.lose', now);
  await recordServerEvent(tx, server, 'server.lost', now);
  // The removal refunds a server that never ran.
  const refundedCents =
    server.first_run_at === null
      ? server.price_cents_cycle
      : await refundUnusedTime(tx, server, { since: loss.lost_at, reason: 'its machine was lost', now });
  await startRemoval(tx, server, now);
  const data = { server: server.name, lostAt: loss.lost_at, refundedCents };
  const cause = `lost:${server.id}`;
  await enqueueMail(tx, { customerId, kind: 'server_lost', cause, data }, now, service.keys);
}
