/**
 * Steps `leave_host` and `give_up`: confirm that the machine is off its host. Then the first reserves another
 * host (for a dedicated server, another machine), if one is left. Otherwise the customer is refunded in full,
 * and what exists of the server is removed.
 */
import { LeaseLost } from '../../../kernel/fail.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { lockBalance } from '../../../store/ledger/ledger.ts';
import { advanceOperation, type OperationRow } from '../../../store/servers/operations.ts';
import { releaseHost, reserveOtherHost, reserveOtherMachine } from '../../../store/servers/placements.ts';
import { lockServer, type ServerRow } from '../../../store/servers/servers.ts';
import { beginAction } from '../../actions/begin.ts';
import { endAction, failure } from '../../actions/end.ts';
import type { Service } from '../../context.ts';
import { refundFirstCycle } from '../billing/charge.ts';
import { priceFirstCycleRefund } from '../billing/price.ts';
import { releasedMachineState } from '../hardware.ts';
import { releaseServerResources } from '../operations/destroy.ts';
import { confirmRemovedFromHost } from '../operations/remove.ts';
import { advance, operationLogFields } from '../operations/step.ts';
import { auditServer, moveServer } from '../transition.ts';
import { letVolumesFollow } from './with-volumes.ts';

/** Hosts to try before refunding the customer. */
const HOSTS_MAX = 5;

/** Step `leave_host`: the host cannot create the server. */
export async function leaveHost(service: Service, operation: OperationRow): Promise<void> {
  await moveOrRefund(service, operation, HOSTS_MAX);
}

/** Step `give_up`: no host can create the server. */
export async function giveUp(service: Service, operation: OperationRow): Promise<void> {
  await moveOrRefund(service, operation, 0);
}

async function moveOrRefund(service: Service, operation: OperationRow, hostsMax: number): Promise<void> {
  if (!(await confirmRemovedFromHost(service, operation))) return;
  const moved = await service.db.transaction(async (tx) => {
    const server = await lockServer(tx, operation.server_id);
    if (!server) throw new Error('operation without a server');
    await lockBalance(tx, server.customer_id);
    // Never try a host twice, for any fault, so that the search ends.
    const previousHost = server.host_id ?? server.machine_id;
    const triedHosts =
      previousHost === null ? operation.tried_hosts : [...operation.tried_hosts, previousHost];
    const now = service.clock.now();
    const released = { state: releasedMachineState(service), now };
    await releaseHost(tx, server.id, released);
    const isPlaced = triedHosts.length < hostsMax && (await allocateElsewhere(tx, server, triedHosts, now));
    if (isPlaced && (await letVolumesFollow(tx, service, server.id))) {
      await advance(service, operation, { step: 'ensure', triedHosts, placedAt: now }, tx);
      return true;
    }
    if (isPlaced) await releaseHost(tx, server.id, released);
    // A host that has room was not found among those that are left.
    const cause = triedHosts.length < hostsMax ? 'out_of_stock' : (operation.cause ?? 'host_failed');
    await refundAndDestroy(tx, server, { ...operation, cause }, now);
    return false;
  });
  if (!moved) {
    // The operator reads here the reason that the customer does not see.
    service.log.error(
      {
        ...operationLogFields(operation),
        reason: operation.last_fault,
        hostsBefore: operation.tried_hosts.length,
      },
      'server could not be provisioned and was refunded',
    );
  }
  service.wake();
}

async function refundAndDestroy(
  tx: Sql,
  server: ServerRow,
  operation: OperationRow,
  now: Date,
): Promise<void> {
  const refund = priceFirstCycleRefund(server, 'could not be provisioned');
  await refundFirstCycle(tx, server, refund, now);
  await moveServer(tx, server, 'destroy', now);
  await releaseServerResources(tx, server, now);
  await auditServer(tx, server, 'server.fail', now, 'error');
  const end = failure(operation.cause ?? 'host_failed', refund.cents);
  await endAction(tx, operation.action_id, end, now);
  const next = { kind: 'destroy', step: 'remove', attempts: 0, cause: null, due_at: now } as const;
  const removal = { ...operation, ...next, action_id: (await beginRemoval(tx, server, now)).id };
  if (!(await advanceOperation(tx, removal))) throw new LeaseLost();
}

/** The removal has an action of its own: the order failed when its money went back. */
async function beginRemoval(tx: Sql, server: ServerRow, now: Date) {
  const ids = { customerId: server.customer_id, resourceId: server.id, serverId: server.id };
  return await beginAction(tx, { ...ids, command: 'server.delete', now });
}

async function allocateElsewhere(
  tx: Sql,
  server: ServerRow,
  tried: readonly string[],
  now: Date,
): Promise<boolean> {
  const taken = server.machine_id
    ? await reserveOtherMachine(tx, {
        id: server.id,
        planId: server.plan_id,
        regionId: server.region_id,
        excludedMachines: tried,
        now,
      })
    : await reserveOtherHost(tx, { id: server.id, excludedHosts: tried });
  return taken !== undefined;
}
